package io.exactlyonce.primary;

import io.exactlyonce.ExactlyOnceSetupException;
import java.sql.SQLException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** There is no connection to a primary, so no claim can be kept. */
public final class PrimaryUnavailableException extends ExactlyOnceSetupException {

    /** Why there is none. */
    public enum Reason {
        /** The server did not answer, or refused the connection. */
        UNREACHABLE,
        /** The server answered, but it is no PostgreSQL. */
        NOT_POSTGRESQL,
        /** PostgreSQL answered, but did not do what claims need. */
        REFUSED,
        /** The server answered, but it is a replica or read-only. */
        NOT_PRIMARY,
        /** Some statements or transactions meet another server than the rest. */
        ROUTED,
        /** The JDBC URL names several hosts, and lets the driver choose a replica. */
        REPLICAS_PERMITTED,
        /** A pooler gives each transaction another session, which does not know the statements that were prepared. */
        PREPARED_STATEMENTS,
        /** A setting and the statement that it is for, sent in one round trip, are run in two transactions. */
        STATEMENTS_APART
    }

    private final Reason reason;

    private PrimaryUnavailableException(Reason reason, String problem, String remedy, @Nullable Throwable cause) {
        super(problem, remedy, cause);
        this.reason = reason;
    }

    static PrimaryUnavailableException unreachable(
            PrimaryPinnedDataSource claims, String observation, Throwable cause) {
        return new PrimaryUnavailableException(
                Reason.UNREACHABLE,
                "No connection to %s for claims (%s)".formatted(name(claims), observation),
                ConnectionFailure.isOfTls(cause) ? trust(claims.source()) : reach(claims),
                cause);
    }

    private static String trust(ConnectionTarget.Source source) {
        return "let %s have the sslmode that the server is ready for, a host that its certificate names, and the sslrootcert of the authority that signed it"
                .formatted(source.urlSetting());
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

    static PrimaryUnavailableException notPostgresql(PrimaryPinnedDataSource claims, String product, Throwable cause) {
        return new PrimaryUnavailableException(
                Reason.NOT_POSTGRESQL,
                "Claims need PostgreSQL, but %s is %s".formatted(name(claims), product),
                switch (claims.source()) {
                    case APPLICATION ->
                        "set exactly-once.datasource.url to one for claims alone, and .username and .password;"
                                + " the application's own database stays what it is";
                    case PROPERTIES -> "let exactly-once.datasource.url lead to a PostgreSQL database";
                    case MARKED_BEAN -> "mark a DataSource of PostgreSQL with @ExactlyOnceDataSource";
                },
                cause);
    }

    static PrimaryUnavailableException refused(PrimaryPinnedDataSource claims, String product, SQLException failure) {
        return new PrimaryUnavailableException(
                Reason.REFUSED,
                "%s (%s) is connected, but refused what claims ask it at the start (SQLSTATE %s, %s)"
                        .formatted(name(claims), product, failure.getSQLState(), failure.getMessage()),
                "claims need PostgreSQL 14 or later itself, and a user that may connect to it and call its functions; a"
                        + " database that only speaks its protocol will not do. If that is not it, the SQLSTATE tells what"
                        + " to mend",
                failure);
    }

    static PrimaryUnavailableException notPrimary(PrimaryPinnedDataSource claims, NotPrimaryException refused) {
        String setting = claims.source().setting();
        if (refused.isRouted()) {
            return new PrimaryUnavailableException(
                    Reason.ROUTED,
                    "%s does not lead to one server: %s".formatted(name(claims), refused.problem()),
                    bypass(claims.source()),
                    refused);
        }
        return new PrimaryUnavailableException(
                Reason.NOT_PRIMARY,
                "%s leads to server %s, which is a replica or read-only".formatted(name(claims), refused.server()),
                "point %s at the primary; a URL that names several hosts needs targetServerType=primary"
                        .formatted(setting),
                refused);
    }

    static PrimaryUnavailableException replicasPermitted(PrimaryPinnedDataSource claims, String targetServerType) {
        String setting = claims.source().setting();
        return new PrimaryUnavailableException(
                Reason.REPLICAS_PERMITTED,
                "%s names several hosts, and its targetServerType=%s lets the driver choose a replica for claims"
                        .formatted(name(claims), targetServerType),
                "remove targetServerType from %s or set it to primary; if the application itself needs that value, give"
                                .formatted(setting)
                        + " claims a URL of their own with exactly-once.datasource.url",
                null);
    }

    static PrimaryUnavailableException sessionsMixedUp(PrimaryPinnedDataSource claims, SQLException failure) {
        return new PrimaryUnavailableException(
                Reason.PREPARED_STATEMENTS,
                "%s leads through a pooler that gives each transaction another session and mixes up prepared statements"
                                .formatted(name(claims))
                        + " (SQLSTATE %s, %s)".formatted(failure.getSQLState(), failure.getMessage()),
                "add prepareThreshold=0 to %s, or let the pooler keep track of prepared statements (PgBouncer 1.21 and"
                                .formatted(claims.source().urlSetting())
                        + " later: max_prepared_statements above 0), or let it pool sessions",
                failure);
    }

    static PrimaryUnavailableException statementsApart(PrimaryPinnedDataSource claims) {
        return new PrimaryUnavailableException(
                Reason.STATEMENTS_APART,
                "%s runs statements that are sent together in transactions of their own, so that what a claim's commit"
                                .formatted(name(claims))
                        + " waits for would not be set for it",
                "remove preferQueryMode=simple from %s; behind a pooler of transactions prepareThreshold=0 does what it is"
                                .formatted(claims.source().urlSetting())
                        + " set for. If the application itself needs it, give claims a URL of their own with"
                        + " exactly-once.datasource.url",
                null);
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

    /** Returns why there is no connection. */
    public Reason reason() {
        return reason;
    }

    /** Returns address and port of the server that answered, by its own account; empty if none did. */
    public Optional<String> server() {
        return getCause() instanceof NotPrimaryException refused ? Optional.of(refused.server()) : Optional.empty();
    }
}
