package io.exactlyonce.test.contract;

import static io.exactlyonce.test.contract.Claims.claim;
import static io.exactlyonce.test.contract.Claims.newKey;
import static io.exactlyonce.test.contract.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every {@link io.exactlyonce.claim.ClaimStore} makes of workers that die: they call it no more. */
interface CrashContract extends StoreUnderTest {

    int WORKERS = 8;
    int KEYS_OF_CRASHING_WORKERS = 12;

    /** The next worker knows what the one that died may have done, and nothing else. */
    @ParameterizedTest
    @EnumSource
    default void nextWorkerLearnsWhatTheDeadOneMayHaveDone(CrashPoint point) {
        var journal = new EffectJournal();
        ClaimRequest dead = request(newKey());
        new CrashingWorker(this, journal, point).deliver(dead);

        ClaimOutcome next = claim(store(), request(dead.key()));

        switch (point) {
            case BEFORE_CLAIM ->
                assertThat(next).isInstanceOfSatisfying(Acquired.class, first -> {
                    assertThat(first.attempt()).isEqualTo(1);
                    assertThat(first.ambiguous()).isFalse();
                });
            case AFTER_CLAIM, AFTER_EFFECT, BEFORE_COMPLETION ->
                assertThat(next).isInstanceOfSatisfying(Acquired.class, second -> {
                    assertThat(second.attempt()).isEqualTo(2);
                    assertThat(second.ambiguous()).isTrue();
                });
            case BEFORE_ACKNOWLEDGE, NEVER -> assertThat(next).isEqualTo(new AlreadyCompleted("1"));
        }
    }

    /** With doubt left to a person, no crash point lets a second effect happen. */
    @ParameterizedTest
    @EnumSource
    default void cautiousWorkersNeverRepeatAnEffect(CrashPoint point) {
        var journal = new EffectJournal();
        ClaimRequest dead = cautious(newKey());
        new CrashingWorker(this, journal, point).deliver(dead);

        new CrashingWorker(this, journal, CrashPoint.NEVER).deliver(cautious(dead.key()));

        assertThat(journal.effects(dead.key())).isLessThanOrEqualTo(1);
        assertThat(claim(store(), cautious(dead.key()))).isInstanceOfAny(AlreadyCompleted.class, Parked.class);
    }

    /** All work on one key until it is completed, then on the next. */
    @Test
    default void workersThatDieAnywhereCompleteEachKeyOnceAndNeverOverlap() throws Exception {
        List<ClaimKey> keys =
                Stream.generate(Claims::newKey).limit(KEYS_OF_CRASHING_WORKERS).toList();
        var journal = new EffectJournal();

        Threads.run(WORKERS, () -> {
            for (ClaimKey key : keys) {
                while (journal.completions(key) == 0 && !Thread.currentThread().isInterrupted()) {
                    new CrashingWorker(this, journal, CrashPoint.random()).deliver(request(key));
                }
            }
        });

        assertThat(keys).allSatisfy(key -> {
            assertThat(journal.completions(key)).isEqualTo(1);
            assertThat(claim(store(), request(key))).isEqualTo(new AlreadyCompleted("1"));
        });
    }

    /** A worker that pauses longer than its lease runs beside its successor; only one of the two can report. */
    @Test
    default void ofWorkersThatOverlapAfterPausesOneCompletesTheKey() throws Exception {
        for (int i = 0; i < KEYS_OF_CRASHING_WORKERS; i++) {
            ClaimKey key = newKey();
            var journal = new EffectJournal();

            Threads.run(WORKERS, () -> {
                ClaimRequest request = request(key);
                ClaimOutcome outcome = claim(store(), request);
                if (outcome instanceof Acquired acquired) {
                    journal.acquired(key, acquired);
                    endLease(request.id());
                    if (Claims.complete(store(), request, "1")) {
                        journal.completed(key);
                    }
                } else {
                    assertThat(outcome).isInstanceOfAny(HeldElsewhere.class, AlreadyCompleted.class);
                }
            });

            assertThat(journal.completions(key)).isEqualTo(1);
        }
    }

    private static ClaimRequest cautious(ClaimKey key) {
        return new ClaimRequest(key, UUID.randomUUID(), "worker", Claims.LEASE, InDoubt.PARK, null);
    }
}
