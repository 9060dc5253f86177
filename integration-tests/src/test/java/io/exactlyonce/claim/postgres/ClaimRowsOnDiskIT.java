package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.commons.util.ExceptionUtils;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** What claims leave in the table. */
class ClaimRowsOnDiskIT {

    private static final String[] SCANS = {"Seq Scan", "Hash Join", "Merge Join", "Join Filter"};

    private static final int CONNECTIONS = 4;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);

    private final PostgresClaimStore store = DATABASE.store();

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @Test
    void duplicatesWriteNothing() {
        ClaimRequest completed = request();
        ClaimRequest held = request();
        store.claim(List.of(completed, held));
        store.end(List.of(new ClaimEnd.Completed(completed.id(), "1")));
        Map<String, Object> completedBefore = DATABASE.row(completed.key());
        Map<String, Object> heldBefore = DATABASE.row(held.key());

        store.claim(List.of(request(completed.key()), request(held.key())));

        assertThat(DATABASE.row(completed.key())).isEqualTo(completedBefore);
        assertThat(DATABASE.row(held.key())).isEqualTo(heldBefore);
    }

    @Test
    void fencingTokensOfABatchAreThoseOfItsRows() {
        ClaimRequest taken = request();
        store.claim(List.of(taken));
        List<ClaimRequest> batch = new ArrayList<>(List.of(request(taken.key())));
        Stream.generate(TestDatabase::request).limit(20).forEach(batch::add);

        List<ClaimOutcome> outcomes = store.claim(batch);

        assertThat(outcomes.get(0)).isInstanceOf(HeldElsewhere.class);
        for (int i = 1; i < batch.size(); i++) {
            Object token = DATABASE.row(batch.get(i).key()).get("fencing_token");
            assertThat(outcomes.get(i)).isEqualTo(new Acquired(1, (Long) token, false));
        }
    }

    @Test
    void leaseIsCountedByTheDatabaseClock() {
        String clock = "SELECT extract(epoch FROM clock_timestamp())";
        ClaimRequest claim = request();
        double before = DATABASE.jdbc().queryForObject(clock, Double.class);
        store.claim(List.of(claim));
        double after = DATABASE.jdbc().queryForObject(clock, Double.class);

        Double until = DATABASE.jdbc()
                .queryForObject(
                        "SELECT extract(epoch FROM lease_until) FROM exactly_once_claim WHERE claim_id = ?",
                        Double.class,
                        claim.claimId());
        assertThat(until).isBetween(before + 60, after + 60);
    }

    @Test
    void errorIsCutAndFreedOfWhatPostgresCannotStore() {
        ClaimRequest claim = request();
        store.claim(List.of(claim));

        store.end(
                List.of(new ClaimEnd.Released(claim.id(), "a\0b" + "x".repeat(997) + "\uD83D\uDE00 and more", false)));

        assertThat(DATABASE.row(claim.key()).get("error")).isEqualTo("ab" + "x".repeat(997));
    }

    @Test
    void oneResultThatCannotBeStoredFailsItsWholeBatch() {
        ClaimRequest good = request(new ClaimKey("a", UUID.randomUUID().toString()));
        ClaimRequest bad = request(new ClaimKey("b", UUID.randomUUID().toString()));
        store.claim(List.of(good, bad));

        assertThatThrownBy(() -> store.end(
                        List.of(new ClaimEnd.Completed(good.id(), "1"), new ClaimEnd.Completed(bad.id(), "a\0b"))))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(failure -> assertThat(ExceptionUtils.readStackTrace(failure))
                        .doesNotContain(good.key().key(), bad.key().key()));

        assertThat(DATABASE.row(good.key()).get("status")).isEqualTo("HELD");
        assertThat(store.end(List.of(new ClaimEnd.Completed(good.id(), "1")))).containsExactly(good.id());
    }

    /** Generic plans are what a prepared statement ends with; here they are made while nothing is known of the table. */
    @ParameterizedTest
    @ValueSource(strings = {"", "ANALYZE exactly_once_claim"})
    void batchStatementsLookRowsUpAlsoInAYoungTable(String statistics) {
        try (TestDatabase fresh = new TestDatabase(1)) {
            var connection = new SingleConnectionDataSource(fresh.newConnection(), true);
            var jdbc = new JdbcTemplate(connection);
            jdbc.execute("SET plan_cache_mode = force_generic_plan");
            jdbc.execute("PREPARE states (text[], text[], bigint[]) AS " + numbered(PostgresClaimStore.LOOK));
            assertThat(plan(jdbc, "states ('{a}', '{b}', '{1}')"))
                    .contains("exactly_once_claim_pkey")
                    .doesNotContain("Seq Scan");

            jdbc.execute(statistics);
            jdbc.execute("BEGIN");
            jdbc.execute(Statements.SETTINGS.formatted("on"));
            String ends = "text[], text[], uuid[], text[], text[], text[], boolean[]";
            String claims = "bigint, text[], text[], uuid[], text[], bigint[], text[]";
            jdbc.execute("PREPARE ends (%s) AS %s".formatted(ends, numbered(PostgresClaimStore.END)));
            jdbc.execute(
                    "PREPARE claims (%s) AS %s".formatted(claims, numbered(PostgresClaimStore.CLAIM.formatted("on"))));
            jdbc.execute("PREPARE rows (text[], text[]) AS " + numbered(ClaimRow.OF_KEYS));
            jdbc.execute(
                    "PREPARE takeovers (bigint, text[], text[], uuid[], text[], uuid[], text[], bigint[], bigint[],"
                            + " boolean[], text[], bigint[]) AS " + numbered(Takeovers.TAKE_OVER));
            jdbc.execute("PREPARE parkings (text[], text[], uuid[], text[], uuid[]) AS "
                    + numbered(Takeovers.PARK_IN_DOUBT));
            String noEnd = "'{a}', '{b}', '{}', '{}', '{}', '{}', '{}'";
            String noClaim = "1, '{a}', '{b}', '{}', '{}', '{}', '{}'";
            assertLooksRowsUp(plan(jdbc, "ends (%s)".formatted(noEnd)));
            assertThat(plan(jdbc, "claims (%s)".formatted(noClaim)))
                    .contains("Conflict Arbiter Indexes: exactly_once_claim_pkey")
                    .doesNotContain(SCANS);
            assertThat(plan(jdbc, "rows ('{a}', '{b}')"))
                    .contains("Index Cond: (((scope)::text = ")
                    .doesNotContain(SCANS);
            String free = "'{a}', '{b}', '{}', '{}', '{}'";
            assertLooksRowsUp(plan(jdbc, "takeovers (1, %s, '{}', '{}', '{}', '{}', '{}', '{}')".formatted(free)));
            assertLooksRowsUp(plan(jdbc, "parkings (%s)".formatted(free)));

            jdbc.execute(
                    "PREPARE renewals (text[], text[], uuid[], bigint[]) AS " + numbered(PostgresClaimStore.RENEW));
            assertLooksRowsUp(plan(jdbc, "renewals ('{a}', '{b}', '{}', '{}')"));
            connection.destroy();
        }
    }

    private static void assertLooksRowsUp(String plan) {
        assertThat(plan)
                .contains("Index Cond: (((scope)::text = ", "TID Cond: (")
                .doesNotContain(SCANS);
    }

    private static String numbered(String sql) {
        String result = sql;
        for (int i = 1; result.contains("?"); i++) {
            result = result.replaceFirst("\\?", "\\$" + i);
        }
        return result;
    }

    private static String plan(JdbcTemplate jdbc, String statement) {
        return String.join("\n", jdbc.queryForList("EXPLAIN EXECUTE " + statement, String.class));
    }
}
