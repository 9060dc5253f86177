package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Writes of other claims between the statements of one claim, and failures of its connections. */
class InterferenceIT {

    private static final int CONNECTIONS = 4;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);
    private static final String TAKE_OVER = "UPDATE \"public\".\"exactly_once_claim\" AS claim\nSET status = 'HELD'";

    private final PostgresClaimStore other = DATABASE.store();

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    /** A key may have 512 characters, but some keys of that length exceed the size of an index entry. */
    @Test
    void keyThatTheIndexCannotHoldIsRefusedForGood() {
        String unbounded = new Random(7)
                .ints(ClaimKey.MAX_LENGTH, 0x4E00, 0x9FFF)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> other.claim(List.of(request(new ClaimKey(unbounded, unbounded)))))
                .withMessageContaining("cannot store one of these keys")
                .withMessageContaining("more than 2700 bytes together")
                .withMessageEndingWith("shorten the scope");
    }

    private ClaimRequest held() {
        ClaimRequest claim = request();
        other.claim(List.of(claim));
        return claim;
    }

    private ClaimRequest late() {
        ClaimRequest late = held();
        DATABASE.endLease(late.id());
        return late;
    }

    private ClaimRequest failed() {
        ClaimRequest failed = held();
        other.resolve(List.of(new ClaimResolution.Released(failed.id(), "failed", false)));
        return failed;
    }

    @Test
    void rowThatVanishesAfterItWasReadIsClaimedAgain() {
        ClaimRequest first = failed();

        assertThat(claimWhile(TAKE_OVER, 1, () -> DATABASE.delete(first.key()), first.key()))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.attempt()).isEqualTo(1));
    }

    /** No statement relies on a row's place that an earlier statement has read. */
    @Test
    void rowThatHasThePlaceOfOneThatWasReadIsNotTakenOver() {
        ClaimRequest first = failed();
        AtomicReference<ClaimId> other = new AtomicReference<>();

        assertThat(claimWhile(TAKE_OVER, 1, () -> other.set(DATABASE.giveItsPlaceAway(first.key())), first.key()))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.attempt()).isEqualTo(1));
        assertThat(DATABASE.row(other.get().key()))
                .containsEntry("claim_id", other.get().value())
                .containsEntry("status", "HELD");
    }

    @Test
    void keyThatChangesInEachRoundIsHeldElsewhere() {
        ClaimRequest busy = failed();
        Runnable claimAndRelease = () -> {
            ClaimRequest faster = request(busy.key());
            other.claim(List.of(faster));
            other.resolve(List.of(new ClaimResolution.Released(faster.id(), "failed", false)));
        };

        assertThat(claimWhile(TAKE_OVER, 100, claimAndRelease, busy.key())).isEqualTo(new HeldElsewhere(Duration.ZERO));
    }

    @Test
    void keyThatAnotherClaimTakesOverFirstIsHeldElsewhere() {
        ClaimRequest failed = failed();

        assertThat(claimWhile(TAKE_OVER, 1, () -> other.claim(List.of(request(failed.key()))), failed.key()))
                .isInstanceOf(HeldElsewhere.class);
    }

    @Test
    void keyWhoseOwnerRenewsInTheLastMomentIsHeldElsewhere() {
        ClaimRequest late = late();

        assertThat(claimWhile(
                        TAKE_OVER,
                        1,
                        () -> other.renew(List.of(new LeaseRenewal(late.id(), Duration.ofMinutes(1)))),
                        late.key()))
                .isInstanceOf(HeldElsewhere.class);
    }

    @Test
    void keyWhoseOwnerCompletesInTheLastMomentIsCompleted() {
        ClaimRequest late = late();

        assertThat(claimWhile(
                        TAKE_OVER,
                        1,
                        () -> other.resolve(List.of(new ClaimResolution.Completed(late.id(), "1"))),
                        late.key()))
                .isEqualTo(new AlreadyCompleted("1"));
    }

    @Test
    void keyWhoseOwnerReleasesInTheLastMomentIsNotInDoubt() {
        ClaimRequest late = late();

        assertThat(claimWhile(
                        TAKE_OVER,
                        1,
                        () -> other.resolve(List.of(new ClaimResolution.Released(late.id(), "failed", false))),
                        late.key()))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.inDoubt()).isFalse());
    }

    @Test
    void completionThatMeetsAnotherWriteOfItsRowIsRecordedAfterIt() throws Exception {
        ClaimRequest claim = held();

        assertThat(whileLocked(
                        claim.id(),
                        "UPDATE exactly_once_claim SET lease_until = now() WHERE claim_id = '%s'"
                                .formatted(claim.claimId()),
                        () -> other.resolve(List.of(new ClaimResolution.Completed(claim.id(), "1")))))
                .containsExactly(claim.id());
        assertThat(DATABASE.row(claim.key()).get("status")).isEqualTo("COMPLETED");
    }

    @Test
    void renewalThatMeetsAnotherWriteOfItsRowIsRecordedAfterIt() throws Exception {
        ClaimRequest claim = held();

        assertThat(whileLocked(
                        claim.id(),
                        "UPDATE exactly_once_claim SET lease_until = now() WHERE claim_id = '%s'"
                                .formatted(claim.claimId()),
                        () -> other.renew(List.of(new LeaseRenewal(claim.id(), Duration.ofMinutes(1))))))
                .containsExactly(claim.id());
        assertThat(other.claim(List.of(request(claim.key())))).hasOnlyElementsOfType(HeldElsewhere.class);
    }

    @Test
    void completionThatMeetsATakeoverIsLost() throws Exception {
        ClaimRequest zombie = held();

        assertThat(whileLocked(
                        zombie.id(),
                        "UPDATE exactly_once_claim SET claim_id = gen_random_uuid() WHERE claim_id = '%s'"
                                .formatted(zombie.claimId()),
                        () -> other.resolve(List.of(new ClaimResolution.Completed(zombie.id(), "1")))))
                .isEmpty();
        assertThat(DATABASE.row(zombie.key()).get("status")).isEqualTo("HELD");
    }

    /** The other claims of a call are answered although one row stays locked. */
    @Test
    void rowThatAnotherTransactionHasLockedCostsTheOthersOfItsCallNothing() throws Exception {
        ClaimRequest locked = request();
        ClaimRequest free = request();
        ClaimRequest fresh = request();
        other.claim(List.of(locked, free));
        try (Connection connection = DATABASE.newConnection()) {
            connection.setAutoCommit(false);
            try (Statement lock = connection.createStatement()) {
                lock.execute("SELECT 1 FROM exactly_once_claim WHERE claim_id = '%s' FOR UPDATE"
                        .formatted(locked.claimId()));
            }

            ClaimAnswers renewal = other.renew(List.of(
                    new LeaseRenewal(locked.id(), Duration.ofMinutes(1)),
                    new LeaseRenewal(free.id(), Duration.ofMinutes(1))));
            assertThat(renewal.granted()).containsExactly(free.id());
            assertThat(renewal.unanswered()).containsExactly(locked.id());

            ClaimBatch.Result ended = other.apply(new ClaimBatch(
                    List.of(
                            new ClaimResolution.Completed(locked.id(), "1"),
                            new ClaimResolution.Completed(free.id(), "1")),
                    List.of(fresh)));
            assertThat(ended.resolved().granted()).containsExactly(free.id());
            assertThat(ended.resolved().unanswered()).containsExactly(locked.id());
            assertThat(ended.claimed()).hasOnlyElementsOfType(Acquired.class);
            connection.rollback();
        }
        assertThat(other.resolve(List.of(new ClaimResolution.Completed(locked.id(), "1")))
                        .granted())
                .containsExactly(locked.id());
    }

    /** A first claim is not committed yet, so the result for its key is unknown. */
    @Test
    void claimThatMeetsAnUncommittedRowGetsNoAnswer() throws Exception {
        ClaimRequest claim = request();
        ClaimRequest uncommitted = request(claim.key());
        try (Connection connection = DATABASE.newConnection()) {
            connection.setAutoCommit(false);
            TestDatabase.insert(new JdbcTemplate(new SingleConnectionDataSource(connection, true)), uncommitted.id());

            assertThatThrownBy(() -> other.claim(List.of(request(), claim)))
                    .isInstanceOf(ClaimStoreUnavailableException.class)
                    .hasMessageContaining("lock timeout")
                    .hasMessageNotContaining(claim.key().key());

            connection.rollback();
        }
        assertThat(other.claim(List.of(claim))).hasOnlyElementsOfType(Acquired.class);
    }

    /**
     * One call waits for an uncommitted row, and has not locked any row that it is to resolve. A cycle of waits is
     * therefore impossible.
     */
    @Test
    void batchesThatEachEndWhatTheOtherClaimsAreBothAnswered() throws Exception {
        String prefix = UUID.randomUUID().toString();
        ClaimRequest uncommitted = request(new ClaimKey("orders", prefix + "-1"));
        ClaimRequest ours = request(new ClaimKey("orders", prefix + "-2"));
        ClaimRequest theirs = request(new ClaimKey("orders", prefix + "-3"));
        other.claim(List.of(ours, theirs));
        ClaimBatch waits = new ClaimBatch(
                List.of(new ClaimResolution.Completed(ours.id(), "ours")),
                List.of(request(uncommitted.key()), request(theirs.key())));
        ClaimBatch crosses = new ClaimBatch(
                List.of(new ClaimResolution.Completed(theirs.id(), "theirs")), List.of(request(ours.key())));
        try (Connection connection = DATABASE.newConnection()) {
            connection.setAutoCommit(false);
            TestDatabase.insert(new JdbcTemplate(new SingleConnectionDataSource(connection, true)), uncommitted.id());
            CompletableFuture<ClaimBatch.Result> waiting =
                    CompletableFuture.supplyAsync(() -> untilAnswered(waits), call -> new Thread(call).start());
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> DATABASE.jdbc()
                            .queryForObject(
                                    "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                                            + " AND datname = current_database())",
                                    Boolean.class));

            assertThat(DATABASE.jdbc()
                            .queryForList(
                                    "SELECT 1 FROM exactly_once_claim WHERE claim_id = ? FOR UPDATE SKIP LOCKED",
                                    ours.claimId()))
                    .as("rows to be ended that the batch that waits has left alone")
                    .hasSize(1);
            ClaimBatch.Result crossed = other.apply(crosses);

            assertThat(crossed.resolved().granted()).containsExactly(theirs.id());
            assertThat(crossed.claimed()).hasOnlyElementsOfType(HeldElsewhere.class);
            connection.rollback();
            ClaimBatch.Result waited = waiting.get(20, TimeUnit.SECONDS);
            assertThat(waited.resolved().granted()).containsExactly(ours.id());
            assertThat(waited.claimed().get(0)).isInstanceOf(Acquired.class);
            assertThat(waited.claimed().get(1)).isEqualTo(new AlreadyCompleted("theirs"));
        }
    }

    /** Repeats the batch as callers do, because a slow machine may exceed the limit of the wait. */
    private ClaimBatch.Result untilAnswered(ClaimBatch batch) {
        while (true) {
            try {
                return other.apply(batch);
            } catch (ClaimStoreUnavailableException late) {
                assertThat(late).hasMessageContaining("lock timeout");
            }
        }
    }

    /** Calls before the statement is committed, which gives no answer, and again after the commit, as callers do. */
    private static Set<ClaimId> whileLocked(ClaimId claim, String statement, Supplier<ClaimAnswers> call)
            throws SQLException {
        try (Connection connection = DATABASE.newConnection()) {
            connection.setAutoCommit(false);
            try (Statement update = connection.createStatement()) {
                assertThat(update.executeUpdate(statement)).isEqualTo(1);
            }
            assertThat(call.get()).isEqualTo(new ClaimAnswers(Set.of(), Set.of(claim), null));
            connection.commit();
            return call.get().granted();
        }
    }

    private static ClaimOutcome claimWhile(String statement, int times, Runnable event, ClaimKey key) {
        var dataSource = new InterruptedDataSource(DATABASE.pool(), statement, times, event);
        return TestDatabase.store(dataSource).claim(List.of(request(key))).get(0);
    }
}
