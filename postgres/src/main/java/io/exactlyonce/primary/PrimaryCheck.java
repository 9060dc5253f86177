package io.exactlyonce.primary;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Checks at startup that all statements of claims reach the same primary. Also checks that the settings of database,
 * driver and pool suit claims. The check needs no privileges and writes no rows.
 */
public final class PrimaryCheck {

    /**
     * How often the check compares servers. A proxy may choose a server at random for each statement, so a single
     * comparison could miss a replica.
     */
    private static final int ROUNDS = 8;

    /**
     * After this many executions, the driver gives a prepared statement a name. The number is its default for {@code
     * prepareThreshold}.
     */
    private static final int RUNS = 5;

    /** SQLSTATEs of a prepared statement whose name already exists, and of one whose name does not exist. */
    private static final Set<String> MIXED_UP = Set.of("42P05", "26000");

    /** Columns that identify the server. They call no volatile function, so {@code READ} stays a plain read. */
    private static final String SERVER = PgCatalog.sql("""
            pg_catalog.current_setting('transaction_read_only') {=} 'on' AS read_only,
            coalesce(pg_catalog.host(pg_catalog.inet_server_addr()) {||} ':' {||} pg_catalog.inet_server_port(),
                     'local socket') AS address,
            pg_catalog.format('PostgreSQL %s, database %s', pg_catalog.current_setting('server_version'),
                              pg_catalog.current_database()) AS name,
            extract(epoch FROM pg_catalog.pg_postmaster_start_time())::pg_catalog.text AS started_at
            """);

    /**
     * A statement that counts as a write, although it uses no table. It takes a transaction id, as only writes do in
     * PostgreSQL. Proxies send it to the primary, because it calls the volatile function {@code clock_timestamp}.
     *
     * <p>Each later read must see this transaction id. So the check detects a server that answers from old data, such
     * as a cache. On a replica, taking a transaction id would fail, so the statement takes none. The check then still
     * gets a row with the replica's name.
     */
    private static final String WRITE = PgCatalog.sql("""
            SELECT CASE WHEN pg_catalog.current_setting('transaction_read_only') {=} 'off'
                        THEN pg_catalog.pg_current_xact_id()::pg_catalog.text::bigint ELSE 0 END
                       AS transaction, pg_catalog.clock_timestamp(),
            """) + SERVER;

    /**
     * A plain read, which some proxies send to a replica. The statement must not call a volatile function such as
     * {@code pg_is_in_recovery()}. A proxy would send such a call to the primary, and the check would not find the
     * replica.
     */
    private static final String READ =
            "SELECT pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::pg_catalog.text::bigint AS transaction, "
                    + SERVER;

    private static final String READ_WITH_TABLE = READ + ", pg_catalog.to_regclass(?) IS NOT NULL AS has_table";

    /**
     * Two statements that are sent together. Claims send statements in this way, and they must run in one transaction.
     * The test is that the second statement reads a value that the first one has set. It also calls a volatile
     * function, so that a proxy does not take it for a plain read.
     */
    private static final String FITNESS = PgCatalog.sql("""
            SELECT pg_catalog.set_config('exactly_once.together', 'yes', true);
            SELECT pg_catalog.current_setting('exactly_once.together', true) {=} 'yes' AS together,
                   pg_catalog.clock_timestamp(),
                   pg_catalog.current_setting('server_version_num')::int {/} 10000 AS version,
                   pg_catalog.current_setting('server_encoding') AS encoding,
                   pg_catalog.upper(pg_catalog.current_setting('transaction_isolation')) AS isolation
            """);

    private static final Logger log = LoggerFactory.getLogger(PrimaryCheck.class);

    private final ClaimPool pool;

    public PrimaryCheck(ClaimPool pool) {
        this.pool = pool;
    }

    /**
     * The server that answered a statement. Behind a proxy or load balancer, its address is not the address in the JDBC
     * URL.
     *
     * @param address address and port, or {@code local socket}
     * @param name {@code server_version}, and the connection's database
     * @param startedAt when the server started, in seconds since 1970; tells apart two servers that have the same
     *     address
     * @param transaction the transaction id of a write; for a read, the first transaction id that the read does not see
     * @param readOnly whether the transaction is read-only; always true on a replica
     */
    public record Server(String address, String name, String startedAt, long transaction, boolean readOnly) {

        static Server of(Connection connection, String question) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(question)) {
                row.next();
                return of(row);
            }
        }

        static Server of(ResultSet row) throws SQLException {
            return DataClassRowMapper.newInstance(Server.class).mapRow(row, 0);
        }

        boolean isSameAs(Server other) {
            return address.equals(other.address) && startedAt.equals(other.startedAt);
        }
    }

    /** The primary that answered, and whether it has the claim table. */
    public record Proof(Server server, boolean hasTable) {}

    /**
     * Checks the server, the driver and the pool, on two connections.
     *
     * @return the server that keeps the claims
     * @throws ClaimDatabaseException in any of these cases: the database is unreachable, is a replica or read-only, is
     *     not PostgreSQL 14 or later, or does not use UTF8; some statements or connections reach another server; a
     *     pooler mixes up prepared statements; statements that are sent together run in separate transactions; or an
     *     application pool lacks a setting that claims need
     */
    public Server verify() {
        try (Connection first = connect()) {
            requireFit(first);
            Server server = requireOneServer(first);
            try (Connection second = connect()) {
                prepareOften(first, "first");
                prepareOften(second, "second");
                requireSame("server %s answers some connections and %s others", Server.of(second, READ), server);
            }
            if (pool.isMarked()) {
                requireNoReadOnlyRouting(server);
            }
            log.info("Claims are kept on {} ({}), a primary, by {}", server.address(), server.name(), pool.setting());
            return server;
        } catch (SQLException failure) {
            throw refused(failure);
        }
    }

    /**
     * Checks in one round trip that the server is a primary. Cheap enough for frequent probes.
     *
     * @param table the claim table's name in SQL
     * @throws ClaimDatabaseException if the server is unreachable, is a replica, or is read-only
     */
    public Proof prove(String table) {
        try (Connection connection = connect();
                PreparedStatement statement = connection.prepareStatement(READ_WITH_TABLE)) {
            statement.setString(1, table);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Proof(requirePrimary(Server.of(row)), row.getBoolean("has_table"));
            }
        } catch (SQLException failure) {
            throw refused(failure);
        }
    }

    private void requireFit(Connection connection) throws SQLException {
        String url = url();
        try (PreparedStatement statement = connection.prepareStatement(FITNESS)) {
            statement.execute();
            statement.getMoreResults();
            ResultSet row = statement.getResultSet();
            row.next();
            require(
                    row.getBoolean("together"),
                    "runs statements that are sent together in separate transactions (preferQueryMode=simple)",
                    "remove preferQueryMode=simple from %s, or set exactly-once.datasource.url to a URL without it; behind a pooler of transactions set prepareThreshold=0 instead"
                            .formatted(url));
            require(
                    row.getInt("version") >= 14,
                    "is PostgreSQL %d, but claims need PostgreSQL 14 or later".formatted(row.getInt("version")),
                    "upgrade it, or point %s at another database".formatted(url));
            require(
                    "UTF8".equals(row.getString("encoding")),
                    "keeps text in %s (server_encoding), but claims need UTF8".formatted(row.getString("encoding")),
                    "make a database with CREATE DATABASE ... TEMPLATE template0 ENCODING 'UTF8', and point %s at it"
                            .formatted(url));
            // The library's own pool always passes the checks below. A pool of the application may fail them.
            require(
                    pool.maximumPoolSize() > 1,
                    "has 1 connection, but claims need at least 2, one of them for renewals",
                    "raise the maximumPoolSize of its pool");
            require(
                    connection.getAutoCommit(),
                    "has autocommit off, but each statement of claims is a transaction by itself",
                    "set autoCommit of its pool to true");
            require(
                    "READ COMMITTED".equals(row.getString("isolation")),
                    "begins transactions in isolation level %s, but claims need READ COMMITTED"
                            .formatted(row.getString("isolation")),
                    "set transactionIsolation of its pool to TRANSACTION_READ_COMMITTED");
        }
    }

    private void require(boolean fit, String problem, String remedy) {
        if (!fit) {
            throw unfit(problem, remedy, null);
        }
    }

    /** Requires that one server answers both reads and writes, and that reads see earlier writes. */
    private Server requireOneServer(Connection connection) throws SQLException {
        for (int round = 1; ; round++) {
            Server write = Server.of(connection, WRITE);
            Server read = Server.of(connection, READ);
            requireSame("server %s answers plain reads and %s other statements", read, write);
            requirePrimary(read);
            if (read.transaction() <= write.transaction()) {
                throw split(
                        "a plain read of server %s did not see what had been written before".formatted(read.address()));
            }
            if (round == ROUNDS) {
                return read;
            }
        }
    }

    /**
     * Executes a prepared statement until the driver gives it a name. This finds poolers that mix up such names, for
     * example PgBouncer up to 1.20 in its transaction mode.
     *
     * <p>The driver gives the first statement of each connection the same name. If the pooler runs two connections on
     * one session, different statements have the same name, and PostgreSQL reports an error. If the pooler happens to
     * use two sessions, the check does not find it.
     */
    private static void prepareOften(Connection connection, String which) throws SQLException {
        connection.setAutoCommit(false);
        try (PreparedStatement statement = connection.prepareStatement("SELECT '%s connection'".formatted(which))) {
            for (int run = 0; run < RUNS; run++) {
                statement.execute();
            }
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    /**
     * Requires that the DataSource does not send read-only transactions to another server. Claims are never read-only,
     * but a handler's thread may be in a read-only transaction. A DataSource that looks at this thread would send the
     * claims to a replica, too.
     */
    private void requireNoReadOnlyRouting(Server primary) throws SQLException {
        DataSource source = pool.dataSource();
        if (source.isWrapperFor(AbstractRoutingDataSource.class)) {
            Class<?> router = source.unwrap(AbstractRoutingDataSource.class).getClass();
            throw split(router.getName() + " chooses a server for each connection");
        }
        TransactionSynchronizationManager.setCurrentTransactionReadOnly(true);
        try (Connection connection = connect()) {
            connection.setReadOnly(true);
            Server other = Server.of(connection, READ);
            // Some pools do not reset the read-only flag by themselves.
            connection.setReadOnly(false);
            requireSame("the DataSource sends read-only transactions to server %s and others to %s", other, primary);
        } finally {
            TransactionSynchronizationManager.setCurrentTransactionReadOnly(false);
        }
    }

    private void requireSame(String observation, Server one, Server other) {
        if (!one.isSameAs(other)) {
            throw split(observation.formatted(one.address(), other.address()));
        }
    }

    private Server requirePrimary(Server server) {
        if (server.readOnly()) {
            throw astray("connects to server %s, which is a replica or read-only".formatted(server.address()), null);
        }
        return server;
    }

    private ClaimDatabaseException split(String observation) {
        return astray("connects to more than one server: " + observation, null);
    }

    private ClaimDatabaseException astray(String problem, @Nullable SQLException cause) {
        String alone = pool.isMarked() ? "" : ", or set exactly-once.datasource.url to its own address";
        String remedy = "point %s at the primary, not at a proxy that splits reads from writes" + alone;
        return unfit(problem, remedy.formatted(pool.setting()), cause);
    }

    private Connection connect() {
        try {
            return pool.dataSource().getConnection();
        } catch (SQLException failure) {
            throw unreachable(failure);
        }
    }

    private ClaimDatabaseException unreachable(SQLException failure) {
        // The pool's own message reports only a timeout, so the driver's message is quoted.
        String told = String.valueOf((failure.getCause() instanceof SQLException cause ? cause : failure).getMessage());
        // If the driver has found no primary, its message contains the name of the setting targetServerType.
        if (told.contains("targetServerType")) {
            return astray(
                    "does not connect to a primary: the server of plain reads is a replica or read-only", failure);
        }
        return new ClaimDatabaseException(
                "No connection to %s for claims (%s)".formatted(pool.target(), told),
                "check that the database is up and that " + pool.demands(),
                failure);
    }

    private ClaimDatabaseException refused(SQLException failure) {
        if (ClaimPool.isStale(failure)) {
            return unreachable(failure);
        }
        String answer = " (SQLSTATE %s, %s)".formatted(failure.getSQLState(), failure.getMessage());
        if (MIXED_UP.contains(ClaimPool.sqlState(failure))) {
            return unfit(
                    "connects through a pooler that gives each transaction another session and mixes up prepared statements"
                            + answer,
                    "add prepareThreshold=0 to %s, or let the pooler keep track of prepared statements (PgBouncer 1.21 and later: max_prepared_statements above 0), or let it pool sessions"
                            .formatted(url()),
                    failure);
        }
        return unfit(
                "is reachable, but rejected the startup check of claims" + answer,
                "use PostgreSQL 14 or later, not a database that only speaks its protocol, and a user that may connect to it and call its functions; if the application's own database is another product, set exactly-once.datasource.url",
                failure);
    }

    private ClaimDatabaseException unfit(String problem, String remedy, @Nullable SQLException cause) {
        return new ClaimDatabaseException(pool.target() + " " + problem, remedy, cause);
    }

    private String url() {
        return pool.isMarked() ? "the URL of " + pool.setting() : pool.setting();
    }
}
