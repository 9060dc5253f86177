package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.schema.TestDatabase.Layout;
import io.exactlyonce.claim.postgres.transaction.TransactionCheck;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.testing.DocumentedCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/**
 * A row's place repeats in each partition. A statement that looks a row up and writes it by its place must not write
 * the row at the same place of another partition.
 */
@Tag("postgres")
class PartitionsIT {

    /** Enough keys, so that each of the four partitions has rows at the same places. */
    private static final int ROWS = 40;

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final TestDatabase DATABASE = new TestDatabase(4, Layout.PARTITIONED);

    private final PostgresClaimStore store = DATABASE.store();
    private final PostgresParkedClaims parked = new PostgresParkedClaims(DATABASE.table());
    private final ClaimTransaction transaction = new TransactionCheck(
                    DATABASE.table(), new StaticListableBeanFactory(), false)
            .create(new JdbcTransactionManager(DATABASE.application()), new DefaultTransactionAttribute(), true);

    /** The state of the rows before a write: {@code status, lease_until, parked_at, expires_at}. */
    private enum Rows {
        HELD("'HELD', now() + interval '1 hour', NULL, now() + interval '1 hour'"),
        VANISHED("'HELD', now() - interval '1 hour', NULL, now() + interval '1 hour'"),
        PARKED("'PARKED', now() - interval '1 hour', now(), now() + interval '1 hour'"),
        COMPLETED("'COMPLETED', now() - interval '1 hour', NULL, now() + interval '1 hour'");

        private final String values;

        Rows(String values) {
            this.values = values;
        }
    }

    private interface Write {
        void to(PartitionsIT test, ClaimId claim) throws Exception;
    }

    /** Each statement that writes a row. */
    private enum Operation {
        COMPLETION(Rows.HELD, (test, claim) -> test.end(new ClaimResolution.Completed(claim, "1"))),
        RELEASE(Rows.HELD, (test, claim) -> test.end(new ClaimResolution.Released(claim, "failed", true))),
        PARKING(Rows.HELD, (test, claim) -> test.end(new ClaimResolution.Parked(claim, "failed", true))),
        RENEWAL(
                Rows.HELD,
                (test, claim) -> assertThat(test.store
                                .renew(List.of(new LeaseRenewal(claim, MINUTE)))
                                .granted())
                        .containsExactly(claim)),
        TAKEOVER(
                Rows.VANISHED,
                (test, claim) -> assertThat(test.store.claim(List.of(request(claim.key()))))
                        .hasOnlyElementsOfType(Acquired.class)),
        PARKING_IN_DOUBT(
                Rows.VANISHED,
                (test, claim) -> assertThat(test.store.claim(List.of(cautious(claim.key()))))
                        .hasOnlyElementsOfType(Parked.class)),
        TRANSACTION(
                Rows.VANISHED,
                (test, claim) -> assertThat(test.work(request(claim.key()))).isInstanceOf(Acquired.class)),
        PARKING_IN_A_TRANSACTION(
                Rows.VANISHED,
                (test, claim) -> assertThat(test.work(cautious(claim.key()))).isInstanceOf(Parked.class)),
        DECISION_TO_RELEASE(
                Rows.PARKED,
                (test, claim) -> assertThat(test.parked.release(claim)).isTrue()),
        DECISION_TO_COMPLETE(
                Rows.PARKED,
                (test, claim) -> assertThat(test.parked.complete(new ClaimResolution.Completed(claim, "1")))
                        .isTrue()),
        RETENTION(Rows.COMPLETED, PartitionsIT::expireAndSweep);

        private final Rows rows;
        private final Write write;

        Operation(Rows rows, Write write) {
            this.rows = rows;
            this.write = write;
        }
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @BeforeEach
    void empty() {
        DATABASE.jdbc().execute("TRUNCATE exactly_once_claim");
    }

    @ParameterizedTest
    @EnumSource
    void rowAtTheSamePlaceOfAnotherPartitionIsNotWritten(Operation operation) throws Exception {
        insert(operation.rows);
        for (ClaimId claim : withNeighbours()) {
            List<Map<String, Object>> others = others(claim);

            operation.write.to(this, claim);

            assertThat(others(claim)).as("other rows").isEqualTo(others);
        }
    }

    private void insert(Rows rows) {
        DATABASE.jdbc().update("""
                INSERT INTO exactly_once_claim (scope, key, claim_id, owner, attempt, fencing_token, in_doubt,
                                                first_claimed_at, claimed_at, completed_at, status, lease_until, parked_at,
                                                expires_at)
                SELECT 'orders', n::text, gen_random_uuid(), 'worker', 1, 1, false, now(), now(), now(), %s
                FROM generate_series(1, ?) AS n
                """.formatted(rows.values), ROWS);
    }

    /** Returns claims at two places that occur in all partitions, one claim of each partition at each place. */
    private static List<ClaimId> withNeighbours() {
        List<ClaimId> claims = DATABASE.jdbc()
                .query(
                        "SELECT DISTINCT ON (tableoid) scope, key, claim_id FROM exactly_once_claim"
                                + " WHERE ctid = '(0,2)' ORDER BY tableoid",
                        (row, n) -> new ClaimId(
                                new ClaimKey(row.getString("scope"), row.getString("key")),
                                row.getObject("claim_id", UUID.class)));
        assertThat(claims).as("one row of each partition, all at one place").hasSize(4);
        return claims.subList(0, 2);
    }

    private static List<Map<String, Object>> others(ClaimId claim) {
        return DATABASE.jdbc()
                .queryForList(
                        "SELECT *, xmin::text, tableoid, ctid::text FROM exactly_once_claim WHERE key <> ? ORDER BY key",
                        claim.key().key());
    }

    private void end(ClaimResolution resolution) {
        assertThat(store.resolve(List.of(resolution)).granted()).containsExactly(resolution.claim());
    }

    private ClaimOutcome work(ClaimRequest request) throws Exception {
        return transaction.execute(request, claim -> null);
    }

    private static ClaimRequest cautious(ClaimKey key) {
        return new ClaimRequest(new ClaimId(key, UUID.randomUUID()), "worker", MINUTE, InDoubt.PARK, null);
    }

    private void expireAndSweep(ClaimId claim) {
        DATABASE.jdbc()
                .update(
                        "UPDATE exactly_once_claim SET claimed_at = now() - interval '1 day',"
                                + " completed_at = now() - interval '1 day', expires_at = now() WHERE claim_id = ?",
                        claim.value());
        RecordedSweeps sweeps = new RecordedSweeps();

        new Retention(DATABASE.table(), 100, List.of(sweeps), System::nanoTime, length -> {}).sweep();

        assertThat(sweeps.batches).containsExactly(1);
    }

    @Test
    void documentedChangeOfTheRetentionReachesEachRowOnce() {
        insert(Rows.COMPLETED);
        String statement = DocumentedCode.of("postgresql.md").block("retention");

        assertThat(DATABASE.jdbc().update(statement)).isEqualTo(ROWS);
        assertThat(DATABASE.jdbc().update(statement)).isZero();

        DATABASE.jdbc().update("UPDATE exactly_once_claim SET expires_at = now() WHERE key = '7'");
        assertThat(DATABASE.jdbc().update(statement)).isOne();
    }

    @Test
    void documentedSettingsOfTheVacuumAreOfOnePartitionEach() {
        String statement = DocumentedCode.of("postgresql.md").block("autovacuum");

        for (int partition = 0; partition < 4; partition++) {
            DATABASE.jdbc().execute(statement.replace("exactly_once_claim", "exactly_once_claim_" + partition));
        }

        assertThat(DATABASE.jdbc()
                        .queryForList("SELECT relname FROM pg_class WHERE relkind = 'r'"
                                + " AND 'autovacuum_vacuum_scale_factor=0.02' = ANY (reloptions) ORDER BY relname"))
                .hasSize(4);
    }
}
