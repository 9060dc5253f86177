package io.exactlyonce.primary;

import io.exactlyonce.primary.ClaimPool.Target;
import java.util.Objects;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Lets claims connect to the database as the application does. Each new connection for claims reads the address, user
 * and password of the application's DataSource again. So if the application changes the password of its running pool,
 * claims use the new password, too.
 *
 * <p>Many pools copy user and password from {@code JdbcConnectionDetails} only when they start. If
 * {@code JdbcConnectionDetails} later returns another password, and the pool still has the old one, claims use the new
 * password. If the pool has no getter for its password, claims also use {@code JdbcConnectionDetails}.
 */
public final class ApplicationConnection implements Supplier<Target> {

    /**
     * How to correct the configuration if claims cannot connect as the application does. Error messages contain this
     * text.
     */
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
     * @param name for messages, such as {@code DataSource 'shop'}
     * @param setting the setting that contains its URL, for messages
     */
    public record Named(String name, String setting, DataSource dataSource) {

        ClaimDatabaseException unusable(String reason, @Nullable Throwable cause) {
            return impossible(name + " " + reason, cause);
        }

        String origin(String part) {
            return EACH + part + name;
        }
    }

    /**
     * The values that were read for the first connection. Later values are compared with these, to notice a change.
     *
     * @param details {@code null} if the pool does not use the application's connection details, because it has another
     *     address or user
     */
    private record First(Target pool, @Nullable Target details) {}

    /**
     * @param details returns the application's connection details, with the current user and password; {@code null} if
     *     there are none
     */
    public ApplicationConnection(Named application, @Nullable Supplier<Target> details) {
        this.application = application;
        this.details = details;
    }

    /** Returns the exception to throw if claims cannot connect as the application does. */
    public static ClaimDatabaseException impossible(String reason, @Nullable Throwable cause) {
        return new ClaimDatabaseException("Claims cannot connect as the application does: " + reason, REMEDY, cause);
    }

    /**
     * Requires a PostgreSQL URL that can be shown in messages. Without this check, the driver of another database would
     * report an error that does not mention claims.
     */
    public static Target requirePostgresql(String name, Target target) {
        String url = target.url();
        if (!Target.isPostgresql(url)) {
            // Only the beginning of the URL is shown, because the other parts may contain a password.
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
     * Reads user and password from the application's code, which may request a token from a service.
     *
     * @param origin the source of user and password, for messages
     * @throws ClaimDatabaseException if the application's code throws, or returns {@code null}
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
