package io.exactlyonce.primary;

import io.exactlyonce.ExactlyOnceSetupException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** There is no connection to a primary, so no claim can be kept. */
public final class PrimaryUnavailableException extends ExactlyOnceSetupException {

    private PrimaryUnavailableException(String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
    }

    static PrimaryUnavailableException unreachable(
            PrimaryPinnedDataSource claims, String observation, Throwable cause) {
        return new PrimaryUnavailableException(
                "No connection to %s for claims (%s)".formatted(name(claims), observation), reach(claims), cause);
    }

    private static String reach(PrimaryPinnedDataSource claims) {
        String setting = claims.source().setting();
        return claims.url().isPresent()
                ? "check that the database is up and that %s, .username and .password are right; of one that is far away, that a connection opens within %s (%ds)"
                        .formatted(
                                setting,
                                claims.timeoutSetting(),
                                claims.connectionTimeout().toSeconds())
                : "check that the database is up and that the settings of %s are right".formatted(setting);
    }

    static PrimaryUnavailableException refused(PrimaryPinnedDataSource claims, SQLException failure) {
        return new PrimaryUnavailableException(
                "%s is connected, but refused what claims ask it at the start (SQLSTATE %s, %s)"
                        .formatted(name(claims), failure.getSQLState(), failure.getMessage()),
                "claims need PostgreSQL 14 or later itself, and a user that may connect to it and call its functions; a"
                        + " database that only speaks its protocol will not do. If that is not it, the SQLSTATE tells what"
                        + " to mend. Where the application's own database is another one, set exactly-once.datasource.url",
                failure);
    }

    static PrimaryUnavailableException notPrimary(PrimaryPinnedDataSource claims, NotPrimaryException refused) {
        String setting = claims.source().setting();
        if (refused.isRouted()) {
            return new PrimaryUnavailableException(
                    "%s does not lead to one server: %s".formatted(name(claims), refused.problem()),
                    bypass(claims.source()),
                    refused);
        }
        return new PrimaryUnavailableException(
                "%s leads to server %s, which is a replica or read-only".formatted(name(claims), refused.server()),
                "point %s at the primary; a URL that names several hosts needs targetServerType=primary"
                        .formatted(setting),
                refused);
    }

    static PrimaryUnavailableException replicasPermitted(PrimaryPinnedDataSource claims, String targetServerType) {
        String setting = claims.source().setting();
        return new PrimaryUnavailableException(
                "%s names several hosts, and its targetServerType=%s lets the driver choose a replica for claims"
                        .formatted(name(claims), targetServerType),
                "remove targetServerType from %s or set it to primary; if the application itself needs that value, give"
                                .formatted(setting)
                        + " claims a URL of their own with exactly-once.datasource.url",
                null);
    }

    static PrimaryUnavailableException sessionsMixedUp(PrimaryPinnedDataSource claims, SQLException failure) {
        return new PrimaryUnavailableException(
                "%s leads through a pooler that gives each transaction another session and mixes up prepared statements"
                                .formatted(name(claims))
                        + " (SQLSTATE %s, %s)".formatted(failure.getSQLState(), failure.getMessage()),
                "add prepareThreshold=0 to %s, or let the pooler keep track of prepared statements (PgBouncer 1.21 and"
                                .formatted(claims.source().urlSetting())
                        + " later: max_prepared_statements above 0), or let it pool sessions",
                failure);
    }

    /** Of a database, a driver or a pool that is not set as claims need it. */
    static PrimaryUnavailableException unfit(PrimaryPinnedDataSource claims, String problem, String remedy) {
        return new PrimaryUnavailableException(name(claims) + " " + problem, remedy, null);
    }

    private static String bypass(ConnectionTarget.Source source) {
        return source == ConnectionTarget.Source.MARKED_BEAN
                ? "mark the DataSource of the primary itself with @ExactlyOnceDataSource"
                : "set exactly-once.datasource.url to the primary's own address, past the proxy";
    }

    private static String name(PrimaryPinnedDataSource claims) {
        return claims.url()
                .map(JdbcUrl::withoutSecrets)
                .orElseGet(() -> claims.source().setting());
    }
}
