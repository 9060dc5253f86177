package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.schema.TestDatabase.Layout;
import io.exactlyonce.claim.postgres.transaction.ApplicationTransactions;
import io.exactlyonce.claim.postgres.transaction.ApplicationTransactions.Seen;
import io.exactlyonce.claim.postgres.transaction.PostgresClaimTransaction;
import io.exactlyonce.testing.EmbeddedDatabase;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Reads the generic plans of all statements that the store and the retention prepare, which a connection uses in the
 * end. The test reads the plans on the connection that prepared the statements, so it also covers new statements. No
 * plan may read the whole table or the whole primary key, whatever statistics the planner had.
 */
@Tag("ci")
class ClaimPlansIT {

    /** {@code ./mvnw verify -Dclaims.rows=10000000} uses a table of that size. */
    private static final int LARGE = Integer.getInteger("claims.rows", 1_000_000);

    private static final int YOUNG = 300;

    private static final List<String> PARTITIONS =
            Stream.of(0, 1, 2, 3).map(number -> "exactly_once_claim_" + number).toList();

    private static final Pattern READS_ALL = Pattern.compile(
            "(?m)(Index (Only )?Scan using|Bitmap Index Scan on) exactly_once_claim(_\\d)?_pkey.*\\n(?!\\s+Index Cond:)");

    @Test
    void plansAreStableFromTheFirstRowToTheMillionth() throws Exception {
        try (TestDatabase database = new TestDatabase(1)) {
            database.jdbc().execute("ALTER TABLE exactly_once_claim SET UNLOGGED"); // to fill it in seconds
            // An analysis between a statement and its EXPLAIN would make PostgreSQL plan it again, without the settings
            // under which it runs.
            database.jdbc().execute("ALTER TABLE exactly_once_claim SET (autovacuum_enabled = false)");
            Session onEmpty = new Session(database);
            onEmpty.useAll();
            onEmpty.assertPlans("empty");

            fill(database, YOUNG);
            onEmpty.useAll();
            onEmpty.assertPlans("young, plans made on the empty table");
            Session onYoung = new Session(database);
            onYoung.useAll();
            onYoung.assertPlans("young, without statistics");
            database.jdbc().execute("ANALYZE exactly_once_claim");
            onEmpty.useAll();
            onEmpty.assertPlans("young, with statistics");

            fill(database, LARGE);
            onYoung.useAll();
            onYoung.assertPlans("large, with the young table's statistics");
            database.jdbc().execute("ANALYZE exactly_once_claim");
            onEmpty.useAll();
            onEmpty.assertPlans("large, with statistics");
            Session onLarge = new Session(database);
            onLarge.useAll();
            onLarge.assertPlans("large, plans made there");

            Stream.of(onEmpty, onYoung, onLarge).forEach(Session::close);
        }
    }

    /**
     * A full scan is the cheapest plan if the statistics are of a small table, and the plan would stay while the table
     * grows.
     */
    @Test
    void plansAreStableWhereTheTableWasAnalyzedWhileItWasNearlyEmpty() throws Exception {
        try (TestDatabase database = new TestDatabase(1)) {
            database.jdbc().execute("ALTER TABLE exactly_once_claim SET (autovacuum_enabled = false)");
            database.jdbc().execute("ANALYZE exactly_once_claim");
            Session session = new Session(database);
            session.useAll();
            session.assertPlans("empty, with statistics");
            database.jdbc().execute("ANALYZE exactly_once_claim");
            session.useAll();
            session.assertPlans("nearly empty, with statistics");
            session.close();
        }
    }

    /** The planner cannot derive the partition from a key, and does not expect the table to grow. */
    @Test
    void plansOfAPartitionedTableReadNoMoreThanTheirKeys() throws Exception {
        try (TestDatabase database = new TestDatabase(1, Layout.PARTITIONED)) {
            for (String partition : PARTITIONS) {
                database.jdbc().execute("ALTER TABLE " + partition + " SET (autovacuum_enabled = false)");
            }
            Session onEmpty = new Session(database);
            onEmpty.useAll();
            onEmpty.assertPlans("empty");
            database.jdbc().execute("ANALYZE exactly_once_claim");
            Session onAnalyzed = new Session(database);
            onAnalyzed.useAll();
            onAnalyzed.assertPlans("nearly empty, with statistics");
            fill(database, 100 * YOUNG);
            database.jdbc().execute("ANALYZE exactly_once_claim");
            Session onLarge = new Session(database);
            onLarge.useAll();
            onLarge.assertPlans("large, with statistics");

            Stream.of(onEmpty, onAnalyzed, onLarge).forEach(Session::close);
        }
    }

    /** Otherwise each row's place would be read in every partition. */
    @Test
    void rowIsWrittenWithoutAReadOfOtherPartitions() {
        try (TestDatabase database = new TestDatabase(1, Layout.PARTITIONED)) {
            ClaimRequest claim = request();
            database.store().claim(List.of(claim));

            JdbcTemplate session = new JdbcTemplate(new SingleConnectionDataSource(database.newConnection(), true));
            session.execute("SET enable_seqscan = off");
            List<String> plan = session.execute(
                    "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) "
                            + database.table().sql(PostgresClaimStore.RENEW),
                    (PreparedStatement statement) -> {
                        Parameters parameters = new Parameters(statement);
                        parameters.keys(List.of(claim), ClaimRequest::key);
                        parameters.uuids(List.of(claim), ClaimRequest::claimId);
                        parameters.longs(List.of(claim), its -> 60_000_000L);
                        List<String> lines = new ArrayList<>();
                        for (ResultSet row = statement.executeQuery(); row.next(); ) {
                            lines.add(row.getString(1));
                        }
                        return lines;
                    });

            assertThat(plan)
                    .filteredOn(line -> line.contains("Scan") && line.contains(" on exactly_once_claim_"))
                    .hasSize(2 * PARTITIONS.size())
                    .filteredOn(line -> !line.contains("never executed"))
                    .as("scans of the key's partition: one that locks its row, and one that writes it")
                    .hasSize(2);
        }
    }

    /** Fills the table as it looks after a while: most keys completed, some expired, some in each other status. */
    private static void fill(TestDatabase database, int rows) {
        fill(database, rows, "0", "14 days 1 hour");
    }

    /** Inserts claims whose age lies between the first interval and the sum of both. */
    static void fill(TestDatabase database, int rows, String youngest, String span) {
        database.jdbc().update("""
                INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,
                                                lease_until, first_claimed_at, claimed_at, completed_at, parked_at,
                                                expires_at)
                SELECT 'orders', gen_random_uuid()::text, status, gen_random_uuid(), 'worker', 1, 1, false,
                       at + interval '1 minute', at, at, CASE status WHEN 'COMPLETED' THEN at + interval '1 second' END,
                       CASE status WHEN 'PARKED' THEN at END, at + interval '336 hours'
                FROM (SELECT (ARRAY['PARKED', 'HELD', 'RELEASED'])[n % 1000] AS rare,
                             now() - ?::interval - n * ?::interval / ? AS at
                      FROM generate_series(1, ?) AS n) AS claims
                CROSS JOIN LATERAL (SELECT coalesce(rare, 'COMPLETED') AS status) AS statuses
                """, youngest, span, rows, rows);
    }

    /** One connection that prepares each statement at its first use, with a generic plan. */
    private static final class Session {

        private final TestDatabase database;
        private final SingleConnectionDataSource connection;
        private final JdbcTemplate jdbc;
        private final PostgresClaimStore store;
        private final PostgresParkedClaims parked;
        private final RecordedSweeps sweeps = new RecordedSweeps();
        private final Retention retention;
        private final JdbcTransactionManager manager;
        private final PostgresClaimTransaction transaction;

        Session(TestDatabase database) {
            this.database = database;
            connection = new SingleConnectionDataSource(
                    database.url() + "?user=postgres&password="
                            + EmbeddedDatabase.shared().password()
                            + "&prepareThreshold=1&options=-c%20plan_cache_mode=force_generic_plan",
                    true);
            jdbc = new JdbcTemplate(connection);
            store = TestDatabase.store(connection);
            parked = new PostgresParkedClaims(TestDatabase.table(connection));
            retention = new Retention(
                    TestDatabase.table(connection), 1_000, List.of(sweeps), System::nanoTime, pause -> {});
            manager = new JdbcTransactionManager(connection);
            transaction = new PostgresClaimTransaction(
                    new ApplicationTransactions(
                            manager,
                            new DefaultTransactionAttribute(),
                            connection,
                            Seen.in(jdbc, TestDatabase.table(connection))),
                    TestDatabase.table(connection));
        }

        /** Runs every operation in every variant that has its own statement. */
        void useAll() {
            List<ClaimRequest> claims =
                    Stream.generate(TestDatabase::request).limit(10).toList();
            store.claim(claims);
            store.claim(claims);
            store.renew(claims.stream()
                    .map(claim -> new LeaseRenewal(claim.id(), Duration.ofMinutes(1)))
                    .toList());
            store.resolve(List.of(new ClaimResolution.Completed(claims.get(0).id(), "1")));
            store.resolve(List.of(new ClaimResolution.Parked(claims.get(1).id(), "to be decided", false)));
            store.resolve(List.of(
                    new ClaimResolution.Released(claims.get(2).id(), "failed", true),
                    new ClaimResolution.Released(claims.get(3).id(), "failed", true)));
            store.claim(List.of(request(claims.get(2).key())));
            store.claim(List.of(new ClaimRequest(
                    new ClaimId(claims.get(3).key(), UUID.randomUUID()),
                    "worker",
                    Duration.ofMinutes(1),
                    InDoubt.PARK,
                    null)));
            store.apply(new ClaimBatch(
                    List.of(new ClaimResolution.Completed(claims.get(4).id(), "1")), List.of(request())));
            store.peek(claims.stream().map(ClaimRequest::key).toList());
            store.resolve(List.of(new ClaimResolution.Parked(claims.get(6).id(), "to be decided", false)));
            parked.list(null, 10);
            parked.listMatching(
                    new ParkedClaims.Filter(claims.get(1).key().scope(), "to be decided", Instant.EPOCH, Instant.now()),
                    10);
            parked.findAll(Set.of(claims.get(1).claimId()));
            parked.count();
            assertThat(parked.releaseAll(List.of(claims.get(1).id()))).hasSize(1);
            assertThat(parked.completeAll(
                            List.of(new ClaimResolution.Completed(claims.get(6).id(), "1"))))
                    .hasSize(1);
            fence(claims.get(5).id());
            retention.sweep();
            assertThat(sweeps.failures).isZero();
            assertThat(sweeps.oldest).isNotEmpty();
            workOn(request());
        }

        /** The check of another pool that this connection is to the claim database. */
        private void fence(ClaimId claim) {
            var claims = database.store();
            Boolean held = new TransactionTemplate(manager).execute(status -> claims.fence(claim));
            assertThat(held).isTrue();
        }

        private void workOn(ClaimRequest claim) {
            try {
                assertThat(transaction.execute(claim, acquired -> null)).isInstanceOf(Acquired.class);
                assertThat(transaction.execute(
                                List.of(request(claim.key()), request(), request()), claimed -> Map.of()))
                        .extracting(Object::getClass)
                        .containsExactly(AlreadyCompleted.class, Acquired.class, Acquired.class);
                assertThat(transaction.execute(request(released().key()), acquired -> null))
                        .isInstanceOf(Acquired.class);
            } catch (Throwable failure) {
                throw new AssertionError(failure);
            }
        }

        private ClaimRequest released() {
            ClaimRequest claim = request();
            store.claim(List.of(claim));
            store.resolve(List.of(new ClaimResolution.Released(claim.id(), "failed", false)));
            return claim;
        }

        void assertPlans(String table) {
            Map<String, String> plans = plans();
            assertThat(plans).as("statements examined").hasSizeGreaterThanOrEqualTo(8);
            plans.forEach((statement, plan) -> assertThat(plan)
                    .as("%s table: %s", table, statement)
                    .doesNotContain("Seq Scan on exactly_once_claim")
                    .doesNotContainPattern(READS_ALL)
                    .contains("exactly_once_claim_"));
        }

        private Map<String, String> plans() {
            Map<String, String> plans = new TreeMap<>();
            jdbc.query(
                    // A key that is NULL would belong to no partition.
                    "SELECT name, statement, array_to_string(array("
                            + "SELECT CASE WHEN type IN ('text'::regtype, 'varchar'::regtype) THEN '''x''' ELSE 'NULL' END"
                            + " FROM unnest(parameter_types) AS type), ', ') AS arguments FROM pg_prepared_statements"
                            + " WHERE statement LIKE '%exactly_once_claim%' AND statement NOT LIKE 'SELECT wanted.position,%'"
                            // These statements read no rows.
                            + " AND statement NOT LIKE 'INSERT INTO%VALUES (%'"
                            + " AND statement NOT LIKE 'SELECT pg_catalog.current_setting(%'"
                            + " AND statement NOT LIKE '%pg_prepared_statements%'",
                    row -> {
                        String values = row.getString("arguments");
                        String arguments = values.isEmpty() ? "" : "(" + values + ")";
                        plans.put(row.getString("statement"), explain(row.getString("name"), arguments));
                    });
            return plans;
        }

        private String explain(String name, String arguments) {
            return String.join(
                    "\n", jdbc.queryForList("EXPLAIN EXECUTE \"%s\" %s".formatted(name, arguments), String.class));
        }

        void close() {
            connection.destroy();
        }
    }
}
