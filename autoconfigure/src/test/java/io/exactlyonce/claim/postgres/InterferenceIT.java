package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimsLockedException;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.dao.ConcurrencyFailureException;

/** What other claims do between the statements of one claim, and to its connections. */
class InterferenceIT {

    private static final int CONNECTIONS = 4;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);
    private static final String ANY = "";
    private static final String TAKE_OVER = "UPDATE exactly_once_claim\nSET status = 'HELD'";

    private final PostgresClaimStore other = new PostgresClaimStore(DATABASE.pool(), TestDatabase.RETENTION);

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    /** 512 characters are allowed, but some keys of that length are more than an entry of an index may hold. */
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

    @Test
    void rowThatVanishesAfterItWasReadIsClaimedAgain() {
        ClaimRequest first = request();
        other.claim(List.of(first));
        other.end(List.of(new ClaimEnd.Released(first.id(), "failed", false)));

        assertThat(claimWhile(TAKE_OVER, 1, () -> DATABASE.delete(first.key()), first.key()))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.attempt()).isEqualTo(1));
    }

    @Test
    void keyThatChangesInEachRoundFailsWithAReason() {
        ClaimRequest busy = request();
        other.claim(List.of(busy));
        other.end(List.of(new ClaimEnd.Released(busy.id(), "failed", false)));
        Runnable claimAndRelease = () -> {
            ClaimRequest faster = request(busy.key());
            other.claim(List.of(faster));
            other.end(List.of(new ClaimEnd.Released(faster.id(), "failed", false)));
        };

        assertThatThrownBy(() -> claimWhile(TAKE_OVER, 100, claimAndRelease, busy.key()))
                .isInstanceOf(ConcurrencyFailureException.class)
                .hasMessageContaining("1 of 1 keys changed in each of 10 rounds")
                .hasMessageNotContaining(busy.key().key());
    }

    @Test
    void keyThatAnotherClaimTakesOverFirstIsHeldElsewhere() {
        ClaimRequest failed = request();
        other.claim(List.of(failed));
        other.end(List.of(new ClaimEnd.Released(failed.id(), "failed", false)));

        assertThat(claimWhile(TAKE_OVER, 1, () -> other.claim(List.of(request(failed.key()))), failed.key()))
                .isInstanceOf(HeldElsewhere.class);
    }

    @Test
    void keyWhoseHolderRenewsInTheLastMomentIsHeldElsewhere() {
        ClaimRequest late = request();
        other.claim(List.of(late));
        DATABASE.endLease(late.id());

        assertThat(claimWhile(
                        TAKE_OVER,
                        1,
                        () -> other.renew(List.of(new LeaseRenewal(late.id(), Duration.ofMinutes(1)))),
                        late.key()))
                .isInstanceOf(HeldElsewhere.class);
    }

    @Test
    void keyWhoseHolderCompletesInTheLastMomentIsCompleted() {
        ClaimRequest late = request();
        other.claim(List.of(late));
        DATABASE.endLease(late.id());

        assertThat(claimWhile(
                        TAKE_OVER, 1, () -> other.end(List.of(new ClaimEnd.Completed(late.id(), "1"))), late.key()))
                .isEqualTo(new AlreadyCompleted("1"));
    }

    @Test
    void keyWhoseHolderReleasesInTheLastMomentIsNotAmbiguous() {
        ClaimRequest late = request();
        other.claim(List.of(late));
        DATABASE.endLease(late.id());

        assertThat(claimWhile(
                        TAKE_OVER,
                        1,
                        () -> other.end(List.of(new ClaimEnd.Released(late.id(), "failed", false))),
                        late.key()))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.ambiguous()).isFalse());
    }

    @Test
    void completionThatWaitsForAnotherWriteOfItsRowIsRecordedAllTheSame() throws Exception {
        ClaimRequest claim = request();
        other.claim(List.of(claim));

        assertThat(whileLocked(
                        "UPDATE exactly_once_claim SET lease_until = now() WHERE claim_id = '%s'"
                                .formatted(claim.claimId()),
                        () -> other.end(List.of(new ClaimEnd.Completed(claim.id(), "1")))))
                .containsExactly(claim.id());
        assertThat(DATABASE.row(claim.key()).get("status")).isEqualTo("COMPLETED");
    }

    @Test
    void renewalThatWaitsForAnotherWriteOfItsRowIsRecordedAllTheSame() throws Exception {
        ClaimRequest claim = request();
        other.claim(List.of(claim));

        assertThat(whileLocked(
                        "UPDATE exactly_once_claim SET lease_until = now() WHERE claim_id = '%s'"
                                .formatted(claim.claimId()),
                        () -> other.renew(List.of(new LeaseRenewal(claim.id(), Duration.ofMinutes(1))))))
                .containsExactly(claim.id());
        assertThat(other.claim(List.of(request(claim.key())))).hasOnlyElementsOfType(HeldElsewhere.class);
    }

    @Test
    void completionThatWaitsForATakeoverIsLost() throws Exception {
        ClaimRequest zombie = request();
        other.claim(List.of(zombie));

        assertThat(whileLocked(
                        "UPDATE exactly_once_claim SET claim_id = gen_random_uuid() WHERE claim_id = '%s'"
                                .formatted(zombie.claimId()),
                        () -> other.end(List.of(new ClaimEnd.Completed(zombie.id(), "1")))))
                .isEmpty();
        assertThat(DATABASE.row(zombie.key()).get("status")).isEqualTo("HELD");
    }

    @Test
    void firstClaimsDuplicatesAndEndsTakeOneStatementTogether() {
        AtomicInteger statements = new AtomicInteger();
        var store = new PostgresClaimStore(
                new InterruptedDataSource(DATABASE.pool(), ANY, Integer.MAX_VALUE, statements::incrementAndGet),
                TestDatabase.RETENTION);
        ClaimRequest done = request();
        ClaimRequest running = request();
        other.claim(List.of(done, running));

        ClaimBatch.Result result = store.apply(new ClaimBatch(
                List.of(new ClaimEnd.Completed(done.id(), "1")),
                List.of(request(), request(running.key()), request())));

        assertThat(result.recorded()).containsExactly(done.id());
        assertThat(result.claimed().get(1)).isInstanceOf(HeldElsewhere.class);
        assertThat(statements).hasValue(1);
    }

    /** As callers do with a claim whose row stays locked for longer than the store waits. */
    private static <T> T untilUnlocked(Callable<T> call) throws Exception {
        while (true) {
            try {
                return call.call();
            } catch (ClaimsLockedException locked) {
                assertThat(locked.granted()).isEmpty();
            }
        }
    }

    /** Commits the statement once the call waits for it. */
    private static <T> T whileLocked(String statement, Callable<T> call) throws Exception {
        ExecutorService caller = Executors.newSingleThreadExecutor();
        try (Connection connection = DATABASE.newConnection()) {
            connection.setAutoCommit(false);
            try (Statement update = connection.createStatement()) {
                assertThat(update.executeUpdate(statement)).isEqualTo(1);
            }
            Future<T> waiting = caller.submit(() -> untilUnlocked(call));
            Awaitility.await()
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> DATABASE.jdbc()
                                    .queryForObject(
                                            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                                    + " AND application_name = 'exactly-once-claims' AND wait_event_type = 'Lock'",
                                            Integer.class)
                            == 1);
            connection.commit();
            return waiting.get(10, TimeUnit.SECONDS);
        } finally {
            caller.shutdown();
        }
    }

    @Test
    void storeWorksAgainAfterItsConnectionsWereKilled() {
        other.claim(List.of(request()));
        DATABASE.jdbc()
                .queryForList("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND application_name = 'exactly-once-claims'");

        ClaimRequest claim = request();
        Awaitility.await()
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(other.claim(List.of(claim))).hasOnlyElementsOfType(Acquired.class));
    }

    private static ClaimOutcome claimWhile(String statement, int times, Runnable event, ClaimKey key) {
        var dataSource = new InterruptedDataSource(DATABASE.pool(), statement, times, event);
        return new PostgresClaimStore(dataSource, TestDatabase.RETENTION)
                .claim(List.of(request(key)))
                .get(0);
    }
}
