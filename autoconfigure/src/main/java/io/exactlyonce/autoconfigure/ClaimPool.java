package io.exactlyonce.autoconfigure;

import io.exactlyonce.primary.ConnectionTarget;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.property.InvalidPropertyException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.core.env.Environment;

/** Chooses where connections for claims come from: the most special of what the application offers. */
final class ClaimPool {

    private static final String POOL = "spring.datasource.hikari.";
    private static final String DRIVER_SETTINGS = POOL + "data-source-properties";
    private static final String DRIVERS_DATA_SOURCE = POOL + "data-source-class-name";
    private static final String SCHEMA = POOL + "schema";
    private static final String INIT_SQL = POOL + "connection-init-sql";

    private ClaimPool() {}

    /**
     * @param marked the application's bean for claims, if it has one
     * @param application asked last, for an application may have claims as its only use of a database
     */
    static PrimaryPinnedDataSource of(
            ExactlyOnceProperties properties, @Nullable DataSource marked, Supplier<ConnectionTarget> application) {
        ExactlyOnceProperties.Datasource own = properties.datasource();
        var synchronousCommit = properties.claim().synchronousCommit();
        if (marked != null) {
            var pool = PrimaryPinnedDataSource.around(marked, own.maximumPoolSize(), synchronousCommit);
            return requireShorter(pool, properties.claim().lease());
        }
        int connections = own.maximumPoolSize() + forCleanup(properties);
        String url = own.url();
        ConnectionTarget target = url == null
                ? application.get()
                : new ConnectionTarget(ConnectionTarget.Source.PROPERTIES, url, own.username(), own.password());
        return requireShorter(
                new PrimaryPinnedDataSource(target, connections, own.connectionTimeout(), synchronousCommit),
                properties.claim().lease());
    }

    /** Where the window is the lease, the audit looks at it. */
    private static PrimaryPinnedDataSource requireShorter(PrimaryPinnedDataSource pool, @Nullable Duration lease) {
        Duration timeout = pool.chosenTimeout().orElse(Duration.ZERO);
        if (lease != null && timeout.compareTo(lease) >= 0) {
            String property = "exactly-once.claim.lease";
            throw new InvalidPropertyException(
                    property,
                    "%s (%ds) must be longer than %s (%ds): a renewal that waits for a connection for as long has lost its lease"
                            .formatted(property, lease.toSeconds(), pool.timeoutSetting(), timeout.toSeconds()),
                    "set %s to about 3s, or raise the lease".formatted(pool.timeoutSetting()));
        }
        return pool;
    }

    /** Returns how many of a pool's connections are for the deletion of expired claims: it takes none from claims. */
    static int forCleanup(ExactlyOnceProperties properties) {
        return properties.claim().cleanup().enabled() ? 1 : 0;
    }

    /**
     * A service connection's details come before properties, as for the application's own pool.
     *
     * @param environment has what the application's pool demands of its driver and of each connection: TLS, and where tables are
     */
    static ConnectionTarget application(
            @Nullable JdbcConnectionDetails details,
            ObjectProvider<DataSourceProperties> properties,
            Environment environment) {
        String driversOwn = setting(environment, DRIVERS_DATA_SOURCE);
        if (driversOwn != null) {
            throw new InvalidPropertyException(
                    DRIVERS_DATA_SOURCE,
                    "%s (%s) has no URL that claims could take".formatted(DRIVERS_DATA_SOURCE, driversOwn),
                    "set exactly-once.datasource.url, .username and .password for claims");
        }
        if (details != null) {
            return application(details.getJdbcUrl(), details.getUsername(), details.getPassword(), environment);
        }
        DataSourceProperties application = properties.getIfAvailable(DataSourceProperties::new);
        return application(
                application.determineUrl(),
                application.determineUsername(),
                application.determinePassword(),
                environment);
    }

    private static ConnectionTarget application(
            String url, @Nullable String username, @Nullable String password, Environment environment) {
        return new ConnectionTarget(
                ConnectionTarget.Source.APPLICATION,
                withDriverSettings(url, environment),
                username,
                password,
                setting(environment, SCHEMA),
                setting(environment, INIT_SQL));
    }

    private static @Nullable String setting(Environment environment, String name) {
        return Binder.get(environment).bind(name, String.class).orElse(null);
    }

    /**
     * Adds what the application's pool demands of its driver, such as TLS: without it claims, and their password, would go to any
     * server that answers. As for the driver, what the URL says counts.
     */
    private static String withDriverSettings(String url, Environment environment) {
        StringBuilder complete = new StringBuilder(url);
        new TreeMap<>(Binder.get(environment)
                        .bind(DRIVER_SETTINGS, Bindable.mapOf(String.class, String.class))
                        .orElse(Map.of()))
                .forEach((name, value) -> {
                    if (!url.matches(".*[?&]" + Pattern.quote(name) + "=.*")) {
                        complete.append(complete.indexOf("?") < 0 ? '?' : '&')
                                .append(name)
                                .append('=')
                                .append(URLEncoder.encode(value, StandardCharsets.UTF_8));
                    }
                });
        return complete.toString();
    }
}
