package io.exactlyonce.primary;

import io.exactlyonce.primary.ClaimPool.Target;
import java.util.Objects;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Connects claims with the application's connection details. Each new connection reads address, user and password of
 * the application's DataSource anew. If the application changes the password of its running pool, claims therefore
 * follow.
 *
 * <p>The application's connection details may have newer credentials than its pool, which read them only once. The
 * newer credentials are used if the details changed and the pool's credentials did not.
 */
public final class ApplicationConnection implements Supplier<Target> {

    /** The remedy if claims cannot connect with the application's details. */
    public static final String REMEDY =
            "mark the DataSource bean for claims with @ExactlyOnceDataSource, or set exactly-once.datasource.url,"
                    + " .username and .password";

    private static final String EACH = "each new connection reads user and password from ";

    private final Named application;
    private final @Nullable Supplier<Target> details;
    private volatile @Nullable First first;

    /**
     * A DataSource of the application.
     *
     * @param name name in failures, such as {@code DataSource 'shop'}
     * @param setting the setting of its URL, for remedies
     */
    public record Named(String name, String setting, DataSource dataSource) {

        /** Returns the exception for claims that cannot use this DataSource. */
        ClaimDatabaseException unusable(String reason, @Nullable Throwable cause) {
            return impossible(name + " " + reason, cause);
        }

        String origin(String part) {
            return EACH + part + name;
        }
    }

    /** The first reading of the pool, and the connection details from which the pool was probably made. */
    private record First(Target pool, @Nullable Target details) {}

    /**
     * @param application the DataSource of the application
     * @param details the application's connection details, with the current user and password; {@code null} if there
     *     are none
     */
    public ApplicationConnection(Named application, @Nullable Supplier<Target> details) {
        this.application = application;
        this.details = details;
    }

    /** Returns the exception for an application whose connection details do not suit claims. */
    public static ClaimDatabaseException impossible(String reason, @Nullable Throwable cause) {
        return new ClaimDatabaseException("Claims cannot connect as the application does: " + reason, REMEDY, cause);
    }

    /** Requires PostgreSQL before the first connection, because another driver's error would not mention claims. */
    public static Target requirePostgresql(String name, Target target) {
        String url = target.url();
        if (!Target.isPostgresql(url)) {
            // The rest of the URL may contain a password.
            String kind = url.startsWith("jdbc:") ? url.substring(0, url.indexOf(':', 5) + 1) : "";
            throw impossible("%s connects to %s..., and claims need PostgreSQL".formatted(name, kind), null);
        }
        if (!Target.isClear(url)) {
            throw impossible(
                    "the URL of %s is not shown, since it may hold secrets: it is not of the form %s"
                            .formatted(name, Target.FORM),
                    null);
        }
        return target;
    }

    /**
     * Calls code of the application, which may request a token from a service.
     *
     * @param origin the origin of the credentials, for failures
     * @throws ClaimDatabaseException if that code fails
     */
    public static <T> T ask(String origin, Supplier<@Nullable T> credentials) {
        try {
            return Objects.requireNonNull(credentials.get(), "no credentials");
        } catch (RuntimeException failure) {
            throw new ClaimDatabaseException(
                    "User and password of claims cannot be read from %s (%s)".formatted(origin, failure),
                    "correct it: each new connection of claims asks it",
                    failure);
        }
    }

    @Override
    public Target get() {
        PoolDetails pool = new DataSourceReader(application).read(application.dataSource());
        Target now = requirePostgresql(
                application.name(),
                pool.target(application.setting(), application.origin(pool.isProvided() ? PoolDetails.PROVIDER : "")));
        if (pool.isProvided() || details == null) {
            return requireKnown(pool, now);
        }
        First before = first(now, details);
        boolean isPoolChanged = !hasSameCredentials(now, before.pool());
        if (before.details() == null || (isPoolChanged && !pool.isPasswordHidden())) {
            return requireKnown(pool, now);
        }
        Target current = details.get();
        return pool.isPasswordHidden() || !hasSameCredentials(current, before.details())
                ? now.as(current.username(), current.password(), application.origin("the JdbcConnectionDetails of "))
                : now;
    }

    private Target requireKnown(PoolDetails pool, Target target) {
        if (pool.isPasswordHidden()) {
            throw application.unusable("(%s) keeps its password to itself".formatted(pool.type()), null);
        }
        return target;
    }

    private First first(Target pool, Supplier<Target> details) {
        First before = first;
        if (before == null) {
            Target given = details.get();
            boolean isMadeFrom = given.address().equals(pool.address()) && isSame(given.username(), pool.username());
            before = new First(pool, isMadeFrom ? given : null);
            first = before;
        }
        return before;
    }

    private static boolean hasSameCredentials(Target one, Target other) {
        return isSame(one.username(), other.username()) && isSame(one.password(), other.password());
    }

    private static boolean isSame(@Nullable String one, @Nullable String other) {
        return one == null ? other == null : one.equals(other);
    }
}
