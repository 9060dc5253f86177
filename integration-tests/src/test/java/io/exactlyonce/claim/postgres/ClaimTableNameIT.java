package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.transaction.TransactionCheck;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.primary.ClaimDatabaseException;
import java.sql.Connection;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/** Claim tables with other names. Several tables in one database are independent. */
class ClaimTableNameIT {

    private static final TestDatabase DATABASE = new TestDatabase(6);
    private static final ClaimTable OURS = DATABASE.table();
    private static final ClaimTable THEIRS = named("theirs.claims");

    private final ClaimRequest request = request();
    private final ClaimKey key = request.key();
    private final PostgresClaimStore store = new PostgresClaimStore(OURS);
    private final PostgresClaimStore theirStore = new PostgresClaimStore(THEIRS);

    private static ClaimTable named(String name) {
        return new ClaimTable(name, DATABASE.pool(), TestDatabase.RETENTION, SynchronousCommit.ON);
    }

    private static ClaimTransaction transaction(ClaimTable table) {
        return new TransactionCheck(table, new StaticListableBeanFactory(), false)
                .create(new JdbcTransactionManager(DATABASE.application()), new DefaultTransactionAttribute(), true);
    }

    @BeforeAll
    static void create() {
        DATABASE.jdbc().execute("CREATE SCHEMA theirs");
        new ClaimSchema(THEIRS).create();
        new ClaimSchema(THEIRS).verify();
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @Test
    void keyOfOneTableIsNoKeyOfAnother() {
        store.claim(List.of(request));
        store.resolve(List.of(new ClaimResolution.Completed(request.id(), "1")));

        assertThat(theirStore.claim(List.of(request(key)))).hasOnlyElementsOfType(Acquired.class);
        assertThat(store.claim(List.of(request(key)))).containsExactly(new AlreadyCompleted("1"));
    }

    @Test
    void transactionsOfTwoTablesWorkOnOneKeyAtOnce() throws Exception {
        ClaimTransaction ours = transaction(OURS);
        ClaimTransaction theirs = transaction(THEIRS);

        assertThat(ours.execute(request, claim -> {
                    assertThat(theirStore.peek(List.of(key)).get(key).status()).isEqualTo(KeyState.Status.FREE);
                    assertThat(store.peek(List.of(key)).get(key).status()).isEqualTo(KeyState.Status.HELD);
                    assertThat(theirs.execute(request(key), theirClaim -> "theirs"))
                            .isInstanceOf(Acquired.class);
                    assertThat(ours.execute(request(key), ourClaim -> "second")).isInstanceOf(HeldElsewhere.class);
                    return "ours";
                }))
                .isInstanceOf(Acquired.class);

        assertThat(store.claim(List.of(request(key)))).containsExactly(new AlreadyCompleted("ours"));
        assertThat(theirStore.claim(List.of(request(key)))).containsExactly(new AlreadyCompleted("theirs"));
    }

    @Test
    void retentionOfOneTableDeletesBesideThatOfAnother() throws Exception {
        for (PostgresClaimStore each : List.of(store, theirStore)) {
            each.claim(List.of(request));
            each.resolve(List.of(new ClaimResolution.Completed(request.id(), "1")));
        }
        for (ClaimTable each : List.of(OURS, THEIRS)) {
            DATABASE.jdbc()
                    .update(
                            each.sql(
                                    "UPDATE {table} SET claimed_at = claimed_at - interval '20 days',"
                                            + " completed_at = completed_at - interval '20 days', expires_at = expires_at - interval '20 days'"));
        }
        RecordedSweeps sweeps = new RecordedSweeps();

        try (Connection other = DATABASE.newConnection()) {
            other.setAutoCommit(false);
            other.createStatement()
                    .execute(OURS.sql(
                            "SELECT pg_try_advisory_xact_lock(731744120, to_regclass('{table}')::oid::integer)"));
            new Retention(THEIRS, 10, List.of(sweeps), System::nanoTime, length -> {}).sweep();
            other.rollback();
        }

        assertThat(sweeps.deleted()).isPositive();
        assertThat(theirStore.rows(List.of(key))).isEmpty();
        assertThat(store.rows(List.of(key))).containsKey(key);
    }

    @Test
    void indexesAndConstraintsHaveTheTablesName() {
        String longest = "x".repeat(50);
        new ClaimSchema(named(longest)).create();
        new ClaimSchema(named("order")).create();

        for (String table : List.of(longest, "order")) {
            assertThat(DATABASE.jdbc()
                            .queryForList(
                                    "SELECT indexname::text FROM pg_indexes WHERE tablename = ?", String.class, table))
                    .containsExactlyInAnyOrder(table + "_pkey", table + "_expires_at", table + "_parked_at");
            assertThat(DATABASE.jdbc()
                            .queryForList(
                                    "SELECT conname::text FROM pg_constraint WHERE conrelid = to_regclass(?) AND contype = 'c'",
                                    String.class,
                                    table))
                    .containsExactly(table + "_status_check");
        }
    }

    @Test
    void tableWithoutItsSchemaIsReportedWithTheRemedy() {
        ClaimSchema schema = new ClaimSchema(named("nowhere.claims"));

        assertThatThrownBy(schema::create)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageStartingWith("The schema of table nowhere.claims is missing from database ")
                .hasMessageContaining("CREATE SCHEMA")
                .hasMessageContaining("exactly-once.claim.table-name");
        assertThatThrownBy(schema::verify)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageStartingWith("Table nowhere.claims is missing from database ")
                .hasMessageContaining("exactly-once.claim.table-name");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "Claims", "a.b.c", ".claims", "claims.", "claims\"; DROP TABLE claims --", "cla'ims", "1st"})
    void nameThatWouldNeedQuotationMarksIsRefused(String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> named(name));
    }

    /** A lock belongs to a table instead of a name. Otherwise users of two names could both hold a new key. */
    @Test
    void twoNamesOfOneTableAreOneTable() throws Exception {
        ClaimTable qualified = named("public.exactly_once_claim");
        ClaimTransaction ours = transaction(OURS);
        ClaimTransaction same = transaction(qualified);

        ours.execute(request, claim -> {
            assertThat(same.execute(request(key), second -> null)).isInstanceOf(HeldElsewhere.class);
            return null;
        });

        assertThat(new PostgresClaimStore(qualified).claim(List.of(request(key))))
                .hasOnlyElementsOfType(AlreadyCompleted.class);
    }
}
