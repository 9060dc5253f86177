package io.exactlyonce.autoconfigure;

import com.zaxxer.hikari.HikariCredentialsProvider;
import com.zaxxer.hikari.util.Credentials;
import io.exactlyonce.primary.ApplicationConnection;
import io.exactlyonce.primary.ClaimPool.Target;
import java.util.function.Supplier;

/**
 * Takes user and password of new connections from the {@code HikariCredentialsProvider} bean that is marked for claims.
 * If the provider names no user, the configured user stays.
 */
record ProvidedCredentials(HikariCredentialsProvider provider, Supplier<Target> targets) implements Supplier<Target> {

    private static final String ORIGIN = "the HikariCredentialsProvider that is marked @ExactlyOnceDataSource";

    @Override
    public Target get() {
        Target target = targets.get();
        Credentials now = ApplicationConnection.ask(ORIGIN, provider::getCredentials);
        String username = now.getUsername() == null ? target.username() : now.getUsername();
        return target.as(username, now.getPassword(), "each new connection reads user and password from " + ORIGIN);
    }
}
