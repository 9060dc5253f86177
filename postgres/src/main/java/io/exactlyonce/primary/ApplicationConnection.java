package io.exactlyonce.primary;

import io.exactlyonce.primary.ClaimPool.Target;
import java.util.Objects;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Connects claims with the application's connection details. Each new connection of claims reads the address, user and
 * password of the application's DataSource again. If the application changes the password of its running pool, the next
 * connection of claims therefore uses the new password.
 *
 * <p>A pool reads the application's {@code JdbcConnectionDetails} only once, so those details may have newer
 * credentials than the pool. The credentials of the details are used if they have changed and the pool's have not, or
 * if the pool has no getter for its password.
 */
public final class ApplicationConnection implements Supplier<Target> {

    /** The fix for messages if claims cannot connect with the application's details. */
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
     * @param name the DataSource's name for messages, such as {@code DataSource 'shop'}
     * @param setting the setting of the DataSource's URL, for fixes in messages
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

    /**
     * The first reading.
     *
     * @param pool the pool's target
     * @param details the application's connection details; {@code null} if their address or user is not the pool's,
     *     because the pool was then not made from them
     */
    private record First(Target pool, @Nullable Target details) {}

    /**
     * Creates the source of connection details.
     *
     * @param application the DataSource of the application
     * @param details the application's connection details, with the current user and password; {@code null} if
     *     there are none
     */
    public ApplicationConnection(Named application, @Nullable Supplier<Target> details) {
        this.application = application;
        this.details = details;
    }

    /** Returns the exception for an application whose connection details do not suit claims. */
    public static ClaimDatabaseException impossible(String reason, @Nullable Throwable cause) {
        return new ClaimDatabaseException("Claims cannot connect as the application does: " + reason, REMEDY, cause);
    }

    /**
     * Requires a target of PostgreSQL, with a URL that can be shown. Called before the first connection, because
     * another driver's error would not mention claims.
     */
    public static Target requirePostgresql(String name, Target target) {
        String url = target.url();
        if (!Target.isPostgresql(url)) {
            // Only the beginning of the URL is shown, because the rest may contain a password.
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
     * Reads credentials by code of the application, which may request a token from a service.
     *
     * @param origin the origin of the credentials, for messages
     * @throws ClaimDatabaseException if that code throws, or returns {@code null}
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
