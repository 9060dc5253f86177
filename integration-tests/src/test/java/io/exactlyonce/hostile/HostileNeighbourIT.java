package io.exactlyonce.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.PostgresParkedClaims;
import io.exactlyonce.claim.postgres.Retention;
import io.exactlyonce.claim.postgres.SameDatabase;
import io.exactlyonce.claim.postgres.transaction.TransactionCheck;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.PrimaryCheck;
import io.exactlyonce.primary.ReplicaMonitor;
import io.exactlyonce.testing.ConnectionProxy;
import io.exactlyonce.testing.DocumentedCode;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.NeedsProgram;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.PGConnection;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The party that may create objects beside the claims' table, without a right on the table, or that may only connect.
 * Nothing of its own is run by statements of claims, and no claim goes to a table of its own.
 */
@Tag("postgres")
@ExtendWith(OutputCaptureExtension.class)
class HostileNeighbourIT {

    private static final String PASSWORD = "secret";
    private static final int BATCH = 3;
    private static final int SESSIONS = 2;

    private final EmbeddedDatabase server = EmbeddedDatabase.shared();
    private final String url = server.createDatabase();
    private final String name = url.substring(url.lastIndexOf('/') + 1);
    private final String shop = "shop_" + name;
    private final String neighbour = "neighbour_" + name;
    private final JdbcTemplate superuser = new JdbcTemplate(server.dataSource(url));
    private final JdbcTemplate own = new JdbcTemplate(as(neighbour));
    private String application = url;
    private ClaimPool pool;
    private ClaimTable table;
    private ClaimDatabase database;

    /** Where the neighbour may create, and the search path of the application and its claims. */
    private enum Path {
        /** The path of PostgreSQL 14: the schema of the table, behind PostgreSQL's own, which no path has to name. */
        PUBLIC("public", "\"$user\", public"),
        /** In front of PostgreSQL's own, and of the table's. */
        FIRST("hostile", "hostile, public, pg_catalog");

        private final String schema;
        private final String path;

        Path(String schema, String path) {
            this.schema = schema;
            this.path = path;
        }
    }

    private DataSource as(String role) {
        return new DriverManagerDataSource(role.equals(shop) ? application : url, role, PASSWORD);
    }

    private void start(Path path) {
        superuser.execute("CREATE ROLE %s LOGIN PASSWORD '%s'; CREATE ROLE %s LOGIN PASSWORD '%s'"
                .formatted(shop, PASSWORD, neighbour, PASSWORD));
        superuser.execute(
                "CREATE SCHEMA hostile AUTHORIZATION %s; GRANT USAGE ON SCHEMA hostile TO PUBLIC".formatted(neighbour));
        superuser.execute(
                "GRANT CREATE ON SCHEMA public TO PUBLIC; GRANT CREATE ON DATABASE %s TO PUBLIC".formatted(name));
        superuser.execute("ALTER ROLE %s SET search_path TO %s".formatted(shop, path.path));
        new JdbcTemplate(as(shop)).execute("CREATE TABLE public.charge (id pg_catalog.text)");
        pool = new ClaimPool(
                new ClaimPool.Target("spring.datasource.url", url, shop, PASSWORD), 4, Duration.ofSeconds(3));
        if (path == Path.FIRST) {
            // The table is to be created in public.
            superuser.execute("REVOKE USAGE ON SCHEMA hostile FROM PUBLIC");
        }
        table = new ClaimTable(pool.dataSource(), Duration.ofDays(1), SynchronousCommit.ON);
        database = new ClaimDatabase(
                pool,
                table,
                DatabaseInitializationMode.ALWAYS,
                new ReplicaMonitor(pool, SynchronousCommit.ON, List.of())::tick);
    }

    @AfterEach
    void close() {
        database.close();
        pool.close();
    }

    @ParameterizedTest
    @EnumSource
    void nothingThatANeighbourCreatesIsCalled(Path path) throws Throwable {
        start(path);
        database.requireReady();
        superuser.execute("GRANT USAGE ON SCHEMA hostile TO PUBLIC");
        var hostile = new Neighbour(own, path.schema);
        hostile.shadowNames();
        assertThat(hostile.functions(superuser))
                .as("functions of the neighbour")
                .isGreaterThan(4_000);
        if (path == Path.FIRST) {
            hostile.shadowCatalog();
            hostile.shadowTable();
        } else {
            // The path begins with the user's own schema.
            own.execute("CREATE SCHEMA %s; GRANT ALL ON SCHEMA %s TO PUBLIC".formatted(shop, shop));
            new Neighbour(own, shop).shadowTable();
        }
        assertThatThrownBy(() -> own.execute("CREATE TRIGGER mine BEFORE UPDATE ON public.exactly_once_claim"
                        + " FOR EACH STATEMENT EXECUTE FUNCTION %s.fired()"
                                .formatted(path == Path.FIRST ? path.schema : shop)))
                .isInstanceOf(DataAccessException.class)
                .hasStackTraceContaining("permission denied for table");

        useAll(table);
        database.prove();
        // A start that names the table, as the remedy says, meets all of it too.
        ClaimTable named =
                new ClaimTable("public.exactly_once_claim", pool.dataSource(), table.retention(), SynchronousCommit.ON);
        try (var again = new ClaimDatabase(
                pool,
                named,
                DatabaseInitializationMode.ALWAYS,
                new ReplicaMonitor(pool, SynchronousCommit.ON, List.of())::tick)) {
            again.requireReady();
        }
        useAll(named);

        assertThat(hostile.called(superuser)).as("called").isEmpty();
        String shadow = path == Path.FIRST ? path.schema : shop;
        assertThat(new Neighbour(own, shadow).called(superuser)).as("called").isEmpty();
        assertThat(superuser.queryForObject(
                        "SELECT pg_catalog.count(*) FROM %s.exactly_once_claim".formatted(shadow), Long.class))
                .as("claims in the neighbour's table")
                .isZero();
    }

    /**
     * Claims, duplicates, renewals, completions, lookups, takeovers, parking, decisions, fences, transactions,
     * retention.
     */
    private void useAll(ClaimTable claims) throws Throwable {
        var store = new PostgresClaimStore(claims);
        var parked = new PostgresParkedClaims(claims);
        ClaimRequest first = request();
        ClaimKey key = first.key();
        for (int run = 0; run < 6; run++) { // The driver gives a statement a name with its fifth run.
            ClaimRequest other = request();
            assertThat(store.claim(List.of(other))).hasOnlyElementsOfType(Acquired.class);
            store.apply(new ClaimBatch(
                    List.of(new ClaimResolution.Completed(other.id(), "1")), List.of(request(), request())));
            assertThat(store.claim(List.of(again(other.key())))).containsExactly(new AlreadyCompleted("1"));
        }
        assertThat(store.claim(List.of(first))).hasOnlyElementsOfType(Acquired.class);
        assertThat(store.renew(List.of(new LeaseRenewal(first.id(), Duration.ofMinutes(1))))
                        .granted())
                .containsExactly(first.id());
        assertThat(store.peek(List.of(key)).get(key).status()).isEqualTo(KeyState.Status.HELD);
        fence(store, first.id());
        endLease(first.id());
        ClaimRequest second = again(key);
        assertThat(store.claim(List.of(second))).hasOnlyElementsOfType(Acquired.class);
        endLease(second.id());
        var cautious = new ClaimRequest(
                new ClaimId(key, UUID.randomUUID()), "worker", Duration.ofMinutes(1), InDoubt.PARK, null);
        assertThat(store.claim(List.of(cautious))).containsExactly(new ClaimOutcome.Parked());
        assertThat(parked.list(null, 10)).anyMatch(claim -> claim.key().equals(key.key()));
        assertThat(parked.list(parked.list(null, 1).get(0), 10)).isNotNull();
        assertThat(parked.find(key)).isPresent();
        assertThat(parked.details(key)).isPresent();
        assertThat(parked.detailsByKeyHash(key.scope(), key.downstreamKey().substring(0, 16)))
                .isPresent();
        assertThat(parked.release(second.id())).isTrue();
        ClaimRequest third = again(key);
        assertThat(store.claim(List.of(third))).hasOnlyElementsOfType(Acquired.class);
        store.resolve(List.of(new ClaimResolution.Parked(third.id(), "as if", true)));
        assertThat(parked.complete(new ClaimResolution.Completed(third.id(), "2")))
                .isTrue();
        assertThat(store.peek(List.of(key)).get(key).status()).isEqualTo(KeyState.Status.COMPLETED);
        transactions(claims, store);
        expire();
        new Retention(claims, BATCH, List.of(), System::nanoTime, length -> {}).sweep();
        assertThat(store.rows(List.of(key))).as("after the retention").isEmpty();
    }

    private void fence(PostgresClaimStore store, ClaimId claim) {
        DataSource application = as(shop);
        assertThat(new TransactionTemplate(new JdbcTransactionManager(application))
                        .<Boolean>execute(status -> store.fence(claim)))
                .isTrue();
    }

    private void transactions(ClaimTable claims, PostgresClaimStore store) throws Throwable {
        DataSource application = as(shop);
        var serializable = new DefaultTransactionAttribute();
        serializable.setIsolationLevelName("ISOLATION_REPEATABLE_READ");
        for (DefaultTransactionAttribute own : List.of(new DefaultTransactionAttribute(), serializable)) {
            ClaimTransaction transaction = new TransactionCheck(claims, new StaticListableBeanFactory(), false)
                    .create(new JdbcTransactionManager(application), own, true);
            ClaimRequest alone = request();
            assertThat(transaction.execute(alone, claim -> {
                        assertThat(transaction.isWithin(alone.id())).isTrue();
                        new JdbcTemplate(application).execute("INSERT INTO public.charge VALUES ('a')");
                        return "1";
                    }))
                    .isInstanceOf(Acquired.class);
            assertThat(transaction.execute(again(alone.key()), claim -> "2")).isEqualTo(new AlreadyCompleted("1"));
            ClaimRequest vanished = request();
            store.claim(List.of(vanished));
            endLease(vanished.id());
            assertThat(transaction.execute(again(vanished.key()), claim -> "3")).isInstanceOf(Acquired.class);
            assertThatThrownBy(() -> transaction.execute(request(), claim -> {
                        throw new IllegalStateException("as if");
                    }))
                    .hasMessage("as if");
        }
    }

    private void endLease(ClaimId claim) {
        superuser.update(
                "UPDATE public.exactly_once_claim SET lease_until = pg_catalog.clock_timestamp() WHERE claim_id"
                        + " OPERATOR(pg_catalog.=) ?",
                claim.value());
    }

    private void expire() {
        superuser.execute("UPDATE public.exactly_once_claim SET claimed_at = '2020-01-01', lease_until = '2020-01-01',"
                + " completed_at = '2020-01-01', expires_at = '2020-01-02' WHERE parked_at IS NULL");
    }

    private static ClaimRequest request() {
        return again(new ClaimKey("orders", UUID.randomUUID().toString()));
    }

    private static ClaimRequest again(ClaimKey key) {
        return new ClaimRequest(key, UUID.randomUUID(), "worker", Duration.ofMinutes(1));
    }

    /** A key that is completed stays completed, although the next start would find another table first. */
    @Test
    void secondTableFailsTheNextStartupAndNotTheRunningApplication() {
        start(Path.PUBLIC);
        database.requireReady();
        var store = new PostgresClaimStore(table);
        ClaimRequest request = request();
        store.claim(List.of(request));
        store.resolve(List.of(new ClaimResolution.Completed(request.id(), "1")));

        own.execute("CREATE SCHEMA %s; GRANT ALL ON SCHEMA %s TO PUBLIC".formatted(shop, shop));
        new Neighbour(own, shop).shadowTable();

        assertThat(store.claim(List.of(again(request.key())))).containsExactly(new AlreadyCompleted("1"));
        ClaimTable unnamed = new ClaimTable(pool.dataSource(), table.retention(), SynchronousCommit.ON);
        for (DatabaseInitializationMode mode :
                List.of(DatabaseInitializationMode.ALWAYS, DatabaseInitializationMode.NEVER)) {
            try (var next = new ClaimDatabase(pool, unnamed, mode, () -> {})) {
                assertThatThrownBy(next::requireReady)
                        .isInstanceOf(ClaimDatabaseException.class)
                        .hasMessageContaining("Several schemas of the search path have a table exactly_once_claim")
                        .hasMessageContaining("(%s, public)".formatted(shop))
                        .hasMessageContaining("exactly-once.claim.table-name");
            }
        }
    }

    private ClaimRequest completed(PostgresClaimStore store) {
        ClaimRequest request = new ClaimRequest(
                new ClaimId(new ClaimKey("orders", "card-4711"), UUID.randomUUID()),
                "worker",
                Duration.ofMinutes(1),
                InDoubt.TAKE_OVER,
                ClaimKey.sha256("a payload"));
        store.claim(List.of(request));
        store.resolve(List.of(new ClaimResolution.Completed(request.id(), "{\"total\":1}")));
        return request;
    }

    /** S3: what a reader of the table sees, and that a reader changes nothing. */
    @Test
    void roleThatMayReadTheTableSeesKeysAndResultsAndChangesNothing() {
        start(Path.PUBLIC);
        database.requireReady();
        ClaimRequest request = completed(new PostgresClaimStore(table));
        superuser.execute("GRANT SELECT ON public.exactly_once_claim TO " + neighbour);

        assertThat(own.queryForMap("SELECT * FROM public.exactly_once_claim"))
                .containsEntry("key", "card-4711")
                .containsEntry("result", "{\"total\":1}")
                .containsEntry("owner", "worker")
                .doesNotContainValue("a payload");
        for (String change : List.of(
                "UPDATE public.exactly_once_claim SET status = 'RELEASED'",
                "DELETE FROM public.exactly_once_claim",
                "TRUNCATE public.exactly_once_claim",
                "INSERT INTO public.exactly_once_claim SELECT * FROM public.exactly_once_claim",
                "SELECT 1 FROM public.exactly_once_claim FOR UPDATE",
                "SELECT 1 FROM public.exactly_once_claim FOR KEY SHARE",
                "LOCK TABLE public.exactly_once_claim IN ROW EXCLUSIVE MODE",
                "ALTER TABLE public.exactly_once_claim DISABLE TRIGGER ALL",
                "CREATE INDEX mine ON public.exactly_once_claim (owner)",
                "CREATE RULE mine AS ON UPDATE TO public.exactly_once_claim DO INSTEAD NOTHING",
                "CREATE TABLE hostile.other (s varchar(512), k varchar(512),"
                        + " FOREIGN KEY (s, k) REFERENCES public.exactly_once_claim)",
                "DROP TABLE public.exactly_once_claim")) {
            assertThatThrownBy(() -> own.execute(change))
                    .as(change)
                    .isInstanceOf(DataAccessException.class)
                    .hasStackTraceContaining("exactly_once_claim");
        }

        assertThat(new PostgresClaimStore(table).claim(List.of(again(request.key()))))
                .containsExactly(new AlreadyCompleted("{\"total\":1}"));
    }

    /** S4: a writer decides what is handled, and finds no payload. */
    @Test
    void roleThatMayWriteTheTableCompletesAndReleasesKeysAndSeesNoPayload() {
        start(Path.PUBLIC);
        database.requireReady();
        var store = new PostgresClaimStore(table);
        ClaimRequest request = completed(store);
        superuser.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON public.exactly_once_claim TO " + neighbour);

        own.execute(
                "INSERT INTO public.exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,"
                        + " lease_until, first_claimed_at, claimed_at, completed_at, expires_at)"
                        + " SELECT scope, 'never handled', status, pg_catalog.gen_random_uuid(), owner, attempt, fencing_token, in_doubt,"
                        + " lease_until, first_claimed_at, claimed_at, completed_at, expires_at FROM public.exactly_once_claim");
        assertThat(store.claim(List.of(again(new ClaimKey("orders", "never handled")))))
                .containsExactly(new AlreadyCompleted(null));

        assertThat(own.queryForList("SELECT * FROM public.exactly_once_claim"))
                .hasSize(2)
                .allSatisfy(row -> assertThat(row).doesNotContainValue("a payload"));
        own.execute("DELETE FROM public.exactly_once_claim");
        assertThat(store.claim(List.of(again(request.key())))).hasOnlyElementsOfType(Acquired.class);
    }

    @Test
    void rolesThatMayCreateInTheSearchPathAreNamedAtStartup(CapturedOutput output) {
        start(Path.PUBLIC);

        database.requireReady();

        assertThat(output)
                .contains("Other roles may create objects in the search path of claims: every role in schema public");
    }

    /** The setup is the one that the documentation advises. */
    @Test
    void databaseOfItsOwnKeepsTheNeighbourOutAndLogsNoOtherRole(CapturedOutput output) {
        start(Path.PUBLIC);
        superuser.execute(DocumentedCode.of("postgresql.md")
                .block("neighbours")
                .replace("DATABASE shop", "DATABASE " + name)
                .replace("TO shop", "TO " + shop));
        superuser.execute("GRANT CREATE ON SCHEMA public TO " + shop);

        database.requireReady();

        assertThat(output).contains("Created table exactly_once_claim").doesNotContain("Other roles may create");
        assertThatThrownBy(() -> own.execute("SELECT 1")).hasStackTraceContaining("permission denied for database");
    }

    /** An operator may be a superuser, as whom the neighbour's functions would run. */
    @Test
    void statementOfAPageCallsNothingWithTheAdvisedPath() {
        start(Path.PUBLIC);
        database.requireReady();
        var store = new PostgresClaimStore(table);
        store.claim(List.of(request(), request()));
        var hostile = new Neighbour(own, "public");
        hostile.shadowNames();
        for (String named : List.of(
                "postgresql.md retention",
                "postgresql.md heap-only",
                "postgresql.md autovacuum",
                "troubleshooting.md key-of-a-hash",
                "troubleshooting.md in-doubt",
                "troubleshooting.md sessions",
                "troubleshooting.md held",
                "after-a-crash.md parked")) {
            String[] pageAndBlock = named.split(" ");
            String statement = DocumentedCode.of(pageAndBlock[0]).block(pageAndBlock[1]);

            superuser.execute("SET search_path TO pg_catalog;"
                    + statement.replaceAll("\\bexactly_once_claim\\b", "public.exactly_once_claim"));

            assertThat(hostile.called(superuser)).as("called by " + named).isEmpty();
        }
    }

    /** Each role that may connect can take each advisory lock. */
    @Test
    void sessionThatHoldsTheLockOfAStartIsNamed() throws Exception {
        start(Path.PUBLIC);
        try (Connection holder = as(neighbour).getConnection();
                Statement statement = holder.createStatement()) {
            statement.execute("SET application_name TO 'squatter'; SELECT pg_advisory_lock(7317441206845101)");
            int pid = holder.unwrap(PGConnection.class).getBackendPID();

            assertThatThrownBy(database::requireReady)
                    .isInstanceOf(ClaimDatabaseException.class)
                    .hasMessageContaining(
                            "session %d of role %s (application_name 'squatter') holds the advisory lock 7317441206845101"
                                    .formatted(pid, neighbour))
                    .hasMessageContaining("pg_terminate_backend(%d)".formatted(pid));
        }

        database.requireReady();
    }

    /** A lookup by its key needs no lock. */
    @Test
    void roleThatOnlyConnectsReadsNoClaimAndDelaysLookupsByHashOnly() throws Exception {
        start(Path.PUBLIC);
        database.requireReady();
        PostgresParkedClaims claims = new PostgresParkedClaims(table);
        ClaimRequest request = request();
        ClaimKey key = request.key();
        new PostgresClaimStore(table).claim(List.of(request));
        try (Connection holder = as(neighbour).getConnection();
                Statement statement = holder.createStatement()) {
            statement.execute("SELECT pg_advisory_lock(7317441206845103)");

            assertThatThrownBy(() -> claims.detailsByKeyHash(key.scope(), key.keyHash()))
                    .isInstanceOf(ClaimStoreBusyException.class);
            assertThat(claims.details(key)).isPresent();
            // The server frees the locks of a closed connection only some time later.
            statement.execute("SELECT pg_advisory_unlock(7317441206845103)");
        }

        assertThat(claims.detailsByKeyHash(key.scope(), key.keyHash())).isPresent();
        for (String statement : List.of(
                "SELECT key FROM public.exactly_once_claim",
                "UPDATE public.exactly_once_claim SET status = 'COMPLETED'",
                "DELETE FROM public.exactly_once_claim",
                "INSERT INTO public.exactly_once_claim DEFAULT VALUES")) {
            assertThatThrownBy(() -> own.execute(statement))
                    .hasStackTraceContaining("permission denied for table exactly_once_claim");
        }
    }

    /** The numbers of the locks are no secret: {@code pg_locks} shows those that are held. */
    @Test
    void roleThatOnlyConnectsLetsKeysOfTransactionsAndTheRetentionWait() throws Throwable {
        start(Path.PUBLIC);
        database.requireReady();
        var store = new PostgresClaimStore(table);
        ClaimRequest done = completed(store);
        expire();
        ClaimRequest held = request();
        ClaimTransaction transaction = new TransactionCheck(table, new StaticListableBeanFactory(), false)
                .create(new JdbcTransactionManager(as(shop)), new DefaultTransactionAttribute(), true);
        var retention = new Retention(table, BATCH, List.of(), System::nanoTime, length -> {});
        long oid = superuser.queryForObject("SELECT 'public.exactly_once_claim'::regclass::oid::bigint", Long.class);
        String locks = "SELECT pg_advisory_%s(%d), pg_advisory_%1$s(731744120, %d)";
        long number = SameDatabase.number(held.key()) ^ oid;
        try (Connection holder = as(neighbour).getConnection();
                Statement statement = holder.createStatement()) {
            statement.execute(locks.formatted("lock", number, oid));

            assertThat(transaction.execute(held, claim -> {
                        throw new AssertionError("The work was called");
                    }))
                    .isInstanceOf(ClaimOutcome.HeldElsewhere.class);
            assertThat(transaction.execute(request(), claim -> "1")).isInstanceOf(Acquired.class);
            ClaimRequest external = again(held.key());
            assertThat(store.claim(List.of(external))).hasOnlyElementsOfType(Acquired.class);
            store.resolve(List.of(new ClaimResolution.Released(external.id(), "as if", false)));
            retention.sweep();
            assertThat(store.rows(List.of(done.key()))).as("an expired claim").isNotEmpty();
            statement.execute(locks.formatted("unlock", number, oid));
        }

        assertThat(transaction.execute(again(held.key()), claim -> "2")).isInstanceOf(Acquired.class);
        retention.sweep();
        assertThat(store.rows(List.of(done.key()))).isEmpty();
    }

    @Nested
    @NeedsProgram(value = "pgbouncer", debianPackage = "pgbouncer")
    class BehindAPooler {

        /** A pooler gives claims any session, with the path and the temporary tables that its last client has left. */
        @Test
        void sessionsThatAPoolerSharesChangeNothing() throws Throwable {
            start(Path.PUBLIC);
            database.requireReady();
            var hostile = new Neighbour(own, "hostile");
            hostile.shadowNames();
            hostile.shadowCatalog();
            try (ConnectionProxy bouncer = ConnectionProxy.pgBouncer("transaction", SESSIONS, shop, PASSWORD)) {
                application = bouncer.lead(url) + "?prepareThreshold=0";
                leaveSessionsOfAnother();
                try (var pooled = new ClaimPool(
                        new ClaimPool.Target("spring.datasource.url", application, shop, PASSWORD),
                        4,
                        Duration.ofSeconds(3))) {
                    new PrimaryCheck(pooled).verify();

                    useAll(new ClaimTable(pooled.dataSource(), table.retention(), SynchronousCommit.ON));
                }
            }

            assertThat(hostile.called(superuser)).as("called").isEmpty();
        }

        /**
         * Leaves each session of the pooler with another path and a temporary table, which PostgreSQL looks at first.
         */
        private void leaveSessionsOfAnother() throws SQLException {
            List<Connection> transactions = new ArrayList<>();
            for (int session = 0; session < SESSIONS; session++) {
                Connection transaction = as(shop).getConnection();
                transactions.add(transaction);
                transaction.setAutoCommit(false);
                transaction
                        .createStatement()
                        .execute(
                                "CREATE TEMPORARY TABLE exactly_once_claim (LIKE public.exactly_once_claim INCLUDING ALL);"
                                        + " SET search_path TO hostile, public, pg_catalog");
            }
            for (Connection transaction : transactions) {
                transaction.commit();
                transaction.close();
            }
        }
    }
}
