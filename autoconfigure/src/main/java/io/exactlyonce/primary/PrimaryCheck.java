package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Finds out at start-up, rather than at the first delivery, whether claims reach one primary, whatever kind of statement asks,
 * and whether database, driver and pool run statements as claims need it. Needs no rights in the database, and writes
 * nothing but transaction ids that it uses up.
 */
public final class PrimaryCheck {

    /** A proxy may choose a server by chance for each statement. */
    private static final int ROUNDS = 8;

    /** With the fifth run the driver gives a statement a name, by its default of {@code prepareThreshold}. */
    private static final int RUNS = 5;

    /** What a server answers to a statement that it has under another meaning, and to one that it has not. */
    private static final Set<String> MIXED_UP = Set.of("42P05", "26000");

    /**
     * Classes of SQLSTATEs of connections that there are not: connection, authorization, catalog name, resources, operator's
     * intervention, system error, and the driver's own for a URL that it cannot parse.
     */
    private static final Set<String> REFUSALS = Set.of("08", "28", "3D", "53", "57", "58", "99");

    /** Which server answers. These functions are stable, not volatile: they may stand in a plain read. */
    private static final String IDENTITY = """
            coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'local socket') AS address,
            current_setting('server_version') AS version,
            current_database() AS database,
            extract(epoch FROM pg_postmaster_start_time())::text AS started_at
            """;

    /**
     * A write for PostgreSQL and, since one of its functions is volatile (the first is not), for proxies. It needs no table, is
     * replicated like any commit, and shows in the snapshot of each later read: so a stale answer is told even from a server
     * that claims to be the primary, such as a cache's.
     */
    private static final String WRITE = "SELECT pg_current_xact_id()::text::bigint AS transaction, clock_timestamp(), "
            + "false AS read_only, " + IDENTITY;

    /** A plain read. One volatile function in it would send it to the primary, as {@code pg_is_in_recovery()} does. */
    private static final String READ = """
            SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS transaction,
                   current_setting('transaction_read_only') = 'on' AS read_only,
            """ + IDENTITY;

    private static final String FITNESS = """
            SELECT current_setting('server_version_num')::int / 10000 AS version,
                   current_setting('server_encoding') AS encoding,
                   upper(current_setting('transaction_isolation')) AS isolation
            """;

    private static final String PROOF = """
            SELECT current_setting('transaction_read_only') = 'on' AS read_only,
                   coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'local socket') AS address,
                   to_regclass('exactly_once_claim') IS NOT NULL AS table_there
            """;

    private static final Logger log = LoggerFactory.getLogger(PrimaryCheck.class);

    private final ClaimPool pool;

    /** @param pool where connections for claims come from */
    public PrimaryCheck(ClaimPool pool) {
        this.pool = pool;
    }

    /**
     * The server that answered, by its own account: behind a proxy or a balancer this is not what the JDBC URL names.
     *
     * @param address address and port, or {@code local socket}
     * @param version its {@code server_version}
     * @param database the connection's database
     * @param startedAt when the server started, in seconds since 1970: two servers that share an address differ in it
     */
    public record Server(String address, String version, String database, String startedAt) {

        static Server of(ResultSet row) throws SQLException {
            return new Server(
                    row.getString("address"),
                    row.getString("version"),
                    row.getString("database"),
                    row.getString("started_at"));
        }

        boolean isSameAs(Server other) {
            return address.equals(other.address) && startedAt.equals(other.startedAt);
        }
    }

    /**
     * What a server tells in one round trip.
     *
     * @param transaction the one that wrote, or the first that a read has not seen
     * @param readOnly whether the transaction is read-only, as each one on a replica is
     */
    private record Answer(Server server, long transaction, boolean readOnly) {

        static Answer to(String question, Connection connection) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(question)) {
                return of(row);
            }
        }

        static Answer of(ResultSet row) throws SQLException {
            row.next();
            return new Answer(Server.of(row), row.getLong("transaction"), row.getBoolean("read_only"));
        }
    }

    /**
     * What a probe learns.
     *
     * @param server address and port of the server, by its own account
     * @param table whether the claims' table is there
     */
    public record Proof(String server, boolean table) {}

    /**
     * Takes two connections at a time, and asks their server.
     *
     * @return the server that keeps the claims
     * @throws ClaimDatabaseException if the database cannot be reached, is no PostgreSQL 14 or later, is not in UTF8, is a
     *     replica or read-only, if some statements or connections would go elsewhere, if a pooler mixes up prepared
     *     statements, if what is sent together is not run in one transaction, or if a pool of the application's is not set
     *     as claims need it
     */
    public Server verify() {
        Server server;
        try (Connection connection = pool.dataSource().getConnection()) {
            requireFit(connection);
            server = requireOneServer(connection);
            try (Connection second = pool.dataSource().getConnection()) {
                prepareOften(connection, "first");
                Server other = prepareOften(second, "second");
                if (!other.isSameAs(server)) {
                    throw split("server %s answers some connections and %s others"
                            .formatted(other.address(), server.address()));
                }
            }
        } catch (SQLException failure) {
            throw explain(failure);
        }
        if (pool.isMarked()) {
            requireNoReadOnlyRouting(server);
        }
        log.info(
                "Claims are kept in database {} on {}, PostgreSQL {}, a primary; connections come from {}",
                server.database(),
                server.address(),
                server.version(),
                pool.setting());
        return server;
    }

    /**
     * Asks one connection of the pool in one round trip, for probes that come again and again.
     *
     * @throws ClaimDatabaseException if it cannot be reached, is a replica or read-only
     */
    public Proof prove() {
        try (Connection connection = pool.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(PROOF)) {
            row.next();
            if (row.getBoolean("read_only")) {
                throw notPrimary(readOnly(row.getString("address")), null);
            }
            return new Proof(row.getString("address"), row.getBoolean("table_there"));
        } catch (SQLException failure) {
            throw explain(failure);
        }
    }

    private void requireFit(Connection connection) throws SQLException {
        String url = url();
        require(
                !pool.sendsStatementsApart(connection),
                "runs statements that are sent together in transactions of their own (preferQueryMode=simple)",
                "remove preferQueryMode=simple from %s, or set exactly-once.datasource.url to a URL without it; behind a pooler of transactions set prepareThreshold=0 instead"
                        .formatted(url));
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(FITNESS)) {
            row.next();
            require(
                    row.getInt("version") >= 14,
                    "is PostgreSQL %d, but claims need PostgreSQL 14 or later".formatted(row.getInt("version")),
                    "upgrade it, or let %s lead to another database".formatted(url));
            require(
                    "UTF8".equals(row.getString("encoding")),
                    "keeps text in %s (server_encoding), but claims need UTF8".formatted(row.getString("encoding")),
                    "make a database with CREATE DATABASE ... TEMPLATE template0 ENCODING 'UTF8', and let %s lead there"
                            .formatted(url));
            if (pool.isMarked()) {
                requireFitPool(connection, row.getString("isolation"));
            }
        }
    }

    /** The pool of our own making is as claims need it. */
    private void requireFitPool(Connection connection, String isolation) throws SQLException {
        require(
                pool.maximumPoolSize() > 1,
                "gives 1 connection, but claims need 2 at least, one of them for renewals",
                "raise the maximumPoolSize of its pool");
        require(
                connection.getAutoCommit(),
                "has autocommit off, but each statement of claims is a transaction by itself",
                "set autoCommit of its pool to true");
        require(
                "READ COMMITTED".equals(isolation),
                "begins transactions in isolation level %s, but claims need READ COMMITTED".formatted(isolation),
                "set transactionIsolation of its pool to TRANSACTION_READ_COMMITTED");
    }

    private void require(boolean fit, String problem, String remedy) {
        if (!fit) {
            throw new ClaimDatabaseException(pool.target() + " " + problem, remedy, null);
        }
    }

    /** Requires that the statements of a connection meet one server, and read what was written before. */
    private Server requireOneServer(Connection connection) throws SQLException {
        Server server;
        int round = 0;
        do {
            Answer write = write(connection);
            Answer read = Answer.to(READ, connection);
            server = write.server();
            if (!read.server().isSameAs(server)) {
                throw split("server %s answers plain reads and %s other statements"
                        .formatted(read.server().address(), server.address()));
            }
            if (read.readOnly()) {
                throw notPrimary(readOnly(server.address()), null);
            }
            if (read.transaction() <= write.transaction()) {
                throw split("a plain read of server %s did not see what had been written before"
                        .formatted(server.address()));
            }
        } while (++round < ROUNDS);
        return server;
    }

    private Answer write(Connection connection) throws SQLException {
        try {
            return Answer.to(WRITE, connection);
        } catch (SQLException refused) {
            if (!ConnectionFailure.READ_ONLY.equals(refused.getSQLState())) {
                throw refused;
            }
            throw notPrimary(readOnly(Answer.to(READ, connection).server().address()), refused);
        }
    }

    /**
     * Makes the server tell poolers that give each transaction another session and know nothing of prepared statements:
     * PgBouncer in transaction mode, up to 1.20. The driver numbers the statements of each connection anew, and so two
     * connections that share a session give it different statements by one name. A pooler that gave each of these
     * connections a session of its own is not found.
     */
    private static Server prepareOften(Connection connection, String which) throws SQLException {
        Server server;
        int run = 0;
        connection.setAutoCommit(false);
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT '%s connection', ".formatted(which) + IDENTITY)) {
            do {
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    server = Server.of(row);
                }
            } while (++run < RUNS);
        }
        connection.commit();
        connection.setAutoCommit(true);
        return server;
    }

    /**
     * Requires that a DataSource sends read-only transactions nowhere else, which are so in both ways that Spring has: by the
     * thread, and by the connection. Claims never use one; but where a DataSource decides by the thread's state, its borrower
     * depends on that state for ever.
     */
    private void requireNoReadOnlyRouting(Server primary) {
        boolean outer = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
        TransactionSynchronizationManager.setCurrentTransactionReadOnly(true);
        try (Connection connection = pool.dataSource().getConnection()) {
            if (pool.dataSource().isWrapperFor(AbstractRoutingDataSource.class)) {
                throw split("%s chooses a server for each connection"
                        .formatted(pool.dataSource()
                                .unwrap(AbstractRoutingDataSource.class)
                                .getClass()
                                .getName()));
            }
            connection.setReadOnly(true);
            Server other = Answer.to(READ, connection).server();
            // Not every pool resets it.
            connection.setReadOnly(false);
            if (!other.isSameAs(primary)) {
                throw split("the DataSource sends read-only transactions to server %s and others to %s"
                        .formatted(other.address(), primary.address()));
            }
        } catch (SQLException failure) {
            throw explain(failure);
        } finally {
            TransactionSynchronizationManager.setCurrentTransactionReadOnly(outer);
        }
    }

    private ClaimDatabaseException split(String observation) {
        return new ClaimDatabaseException(
                "%s does not lead to one server: %s".formatted(pool.target(), observation),
                pool.isMarked()
                        ? "mark the DataSource of the primary itself with @ExactlyOnceDataSource"
                        : "set exactly-once.datasource.url to the primary's own address, past the proxy",
                null);
    }

    private static String readOnly(String address) {
        return "server %s, which is a replica or read-only".formatted(address);
    }

    private ClaimDatabaseException notPrimary(String where, @Nullable SQLException cause) {
        return new ClaimDatabaseException(
                "%s leads to %s".formatted(pool.target(), where),
                "point %s at the primary, past whatever splits reads from writes".formatted(pool.setting()),
                cause);
    }

    /** The pool says only that it timed out; what the driver said is the cause that helps. */
    private ClaimDatabaseException explain(SQLException failure) {
        SQLException deepest = failure;
        for (@Nullable Throwable cause = failure; cause != null && !isMixUp(deepest); cause = cause.getCause()) {
            if (cause instanceof SQLException deeper) {
                deepest = deeper;
            }
        }
        String state = String.valueOf(deepest.getSQLState());
        String told = String.valueOf(deepest.getMessage());
        // The driver's words for servers that are none of the wanted type.
        if (told.contains("targetServerType") || ConnectionFailure.READ_ONLY.equals(state)) {
            return notPrimary("no primary: what answers plain reads there is a replica or read-only", failure);
        }
        String problem = "%s is connected, but refused what claims ask it at the start (SQLSTATE %s, %s)"
                .formatted(pool.target(), state, told);
        String remedy =
                "claims need PostgreSQL 14 or later itself, not a database that only speaks its protocol, and a user that may connect to it and call its functions; where the application's own database is another one, set exactly-once.datasource.url";
        if (isMixUp(deepest)) {
            problem =
                    "%s leads through a pooler that gives each transaction another session and mixes up prepared statements (SQLSTATE %s, %s)"
                            .formatted(pool.target(), state, told);
            remedy =
                    "add prepareThreshold=0 to %s, or let the pooler keep track of prepared statements (PgBouncer 1.21 and later: max_prepared_statements above 0), or let it pool sessions"
                            .formatted(url());
        } else if (deepest.getSQLState() == null || REFUSALS.stream().anyMatch(state::startsWith)) {
            problem = "No connection to %s for claims (%s)".formatted(pool.target(), told);
            remedy = pool.isMarked()
                    ? "check that the database is up and that the settings of %s are right".formatted(pool.setting())
                    : "check that the database is up and that %s, .username and .password are right; of one that is far away, that a connection opens within %s (%ds)"
                            .formatted(
                                    pool.setting(),
                                    pool.timeoutSetting(),
                                    pool.timeout().toSeconds());
        }
        return new ClaimDatabaseException(problem, remedy, failure);
    }

    private static boolean isMixUp(SQLException failure) {
        return failure.getSQLState() != null && MIXED_UP.contains(failure.getSQLState());
    }

    private String url() {
        return pool.isMarked() ? "the URL of " + pool.setting() : pool.setting();
    }
}
