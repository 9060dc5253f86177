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
        String url = claims.source().urlSetting();
        require(
                !sendsStatementsApart(claims, connection),
                claims,
                "runs statements that are sent together in transactions of their own (" + SIMPLE_MODE
                        + "), so that what a claim's commit waits for would not be set for it",
                "remove " + SIMPLE_MODE + " from " + url
                        + "; behind a pooler of transactions prepareThreshold=0 does what it"
                        + " is set for. If the application itself needs it, give claims a URL of their own with"
                        + " exactly-once.datasource.url");
        String encoding = setting(connection, "server_encoding");
        require(
                "UTF8".equals(encoding),
                claims,
                "keeps text in " + encoding + " (server_encoding), but claims need UTF8",
                "make a database with CREATE DATABASE ... TEMPLATE template0 ENCODING 'UTF8', and let " + url
                        + " lead there");
        if (claims.source() == ConnectionTarget.Source.MARKED_BEAN) {
            requireFitPool(claims, connection);
        }
    }

    /** The pool of our own making is as claims need it. */
    private static void requireFitPool(PrimaryPinnedDataSource claims, Connection connection) throws SQLException {
        require(
                claims.maximumPoolSize() > 1,
                claims,
                "gives 1 connection, but claims need 2 at least, one of them for renewals",
                "raise the maximumPoolSize of its pool");
        require(
                connection.getAutoCommit(),
                claims,
                "has autocommit off, but each statement of claims is a transaction by itself",
                "set autoCommit of its pool to true");
        String isolation = setting(connection, "transaction_isolation").toUpperCase(Locale.ROOT);
        require(
                "READ COMMITTED".equals(isolation),
                claims,
                "begins transactions in isolation level " + isolation + ", but claims need READ COMMITTED",
                "set transactionIsolation of its pool to TRANSACTION_READ_COMMITTED");
    }

    private static void require(boolean fit, PrimaryPinnedDataSource claims, String problem, String remedy) {
        if (!fit) {
            throw PrimaryUnavailableException.unfit(claims, problem, remedy);
        }
    }

    private static String setting(Connection connection, String name) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet setting = statement.executeQuery("SHOW " + name)) {
            setting.next();
            return setting.getString(1);
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
