package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Set;

/** Finds databases, drivers and pools that do not run statements as claims need it, before a claim fails or means something else. */
final class SessionCheck {

    private static final String DUPLICATE_PREPARED_STATEMENT = "42P05";
    private static final String INVALID_SQL_STATEMENT_NAME = "26000";

    /** What a server answers to one that it has under another meaning, and to one that it has not. */
    private static final Set<String> MIXED_UP = Set.of(DUPLICATE_PREPARED_STATEMENT, INVALID_SQL_STATEMENT_NAME);

    /** From the fifth run on the driver gives a statement a name, by its default of {@code prepareThreshold}. */
    private static final int RUNS = 6;

    /** One is left to renewals. */
    private static final int LEAST_CONNECTIONS = 2;

    private static final String SETTINGS = "SELECT current_setting('server_encoding'), current_setting('transaction_isolation')";
    private static final String SIMPLE_MODE = "preferQueryMode=simple";

    private SessionCheck() {}

    /**
     * Makes the server tell poolers that give each transaction another session and know nothing of prepared statements:
     * PgBouncer in transaction mode, up to 1.20. The driver numbers the statements of each connection anew, and so two
     * connections that share a session give it different statements by one name. A pooler that gave each of these
     * connections a session of its own is not found.
     *
     * <p>Leaves named statements behind where the driver makes them: several connections have to do it.
     *
     * @throws SQLException for which {@link #isMixUp} is true, of such a pooler
     */
    static void prepareOften(Connection connection) throws SQLException {
        boolean autoCommit = connection.getAutoCommit();
        connection.setAutoCommit(false);
        try (PreparedStatement statement = connection.prepareStatement("SELECT 1")) {
            for (int run = 0; run < RUNS; run++) {
                statement.executeQuery().close();
            }
            connection.commit();
        }
        connection.setAutoCommit(autoCommit);
    }

    static boolean isMixUp(SQLException failure) {
        return failure.getSQLState() != null && MIXED_UP.contains(failure.getSQLState());
    }

    /**
     * Requires that statements are run as claims need it.
     *
     * @param connection given by the DataSource, and in no transaction
     */
    static void require(PrimaryPinnedDataSource claims, Connection connection) throws SQLException {
        if (sendsStatementsApart(claims, connection)) {
            throw PrimaryUnavailableException.unfit(
                    claims,
                    "runs statements that are sent together in transactions of their own (" + SIMPLE_MODE
                            + "), so that what a claim's commit waits for would not be set for it",
                    "remove %s from %s; behind a pooler of transactions prepareThreshold=0 does what it is set for. If the"
                                    .formatted(SIMPLE_MODE, claims.source().urlSetting())
                            + " application itself needs it, give claims a URL of their own with"
                            + " exactly-once.datasource.url");
        }
        boolean isMarked = claims.source() == ConnectionTarget.Source.MARKED_BEAN;
        if (isMarked && claims.maximumPoolSize() < LEAST_CONNECTIONS) {
            throw PrimaryUnavailableException.unfit(
                    claims,
                    "gives %d connection, but claims need %d at least, one of them for renewals"
                            .formatted(claims.maximumPoolSize(), LEAST_CONNECTIONS),
                    "raise the maximumPoolSize of its pool");
        }
        if (isMarked && !connection.getAutoCommit()) {
            throw PrimaryUnavailableException.unfit(
                    claims,
                    "has autocommit off, but each statement of claims is a transaction by itself",
                    "set autoCommit of its pool to true");
        }
        try (Statement statement = connection.createStatement();
                ResultSet settings = statement.executeQuery(SETTINGS)) {
            settings.next();
            requireUtf8(claims, settings.getString(1));
            if (isMarked) {
                requireReadCommitted(claims, settings.getString(2));
            }
        }
    }

    private static void requireUtf8(PrimaryPinnedDataSource claims, String encoding) {
        if (!"UTF8".equals(encoding)) {
            throw PrimaryUnavailableException.unfit(
                    claims,
                    "keeps text in %s (server_encoding), but claims need UTF8".formatted(encoding),
                    "make a database with CREATE DATABASE ... TEMPLATE template0 ENCODING 'UTF8', and let %s lead there"
                            .formatted(claims.source().urlSetting()));
        }
    }

    /** A stricter one would not see what other transactions committed meanwhile. */
    private static void requireReadCommitted(PrimaryPinnedDataSource claims, String isolation) {
        if (!"read committed".equals(isolation)) {
            throw PrimaryUnavailableException.unfit(
                    claims,
                    "begins transactions in isolation level %s, but claims need READ COMMITTED"
                            .formatted(isolation.toUpperCase(Locale.ROOT)),
                    "set transactionIsolation of its pool to TRANSACTION_READ_COMMITTED");
        }
    }

    /** Where the driver is told so, in the URL or by a pool of the application's. */
    private static boolean sendsStatementsApart(PrimaryPinnedDataSource claims, Connection connection)
            throws SQLException {
        boolean byPool = PrimaryPinnedDataSource.hikari(claims.unproved())
                .filter(pool -> "simple".equals(pool.getDataSourceProperties().getProperty("preferQueryMode")))
                .isPresent();
        return byPool || String.valueOf(connection.getMetaData().getURL()).contains(SIMPLE_MODE);
    }
}
