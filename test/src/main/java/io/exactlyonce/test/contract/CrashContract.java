package io.exactlyonce.test.contract;

import static io.exactlyonce.test.contract.Claims.claim;
import static io.exactlyonce.test.contract.Claims.newKey;
import static io.exactlyonce.test.contract.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.Claim;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.delivery.InDoubtSettings;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of every {@link io.exactlyonce.claim.ClaimStore} if workers die or pause at any step of a delivery.
 * Workers run the library's own classes, as in an application. A dead worker never calls the store again.
 */
interface CrashContract extends StoreUnderTest {

    int WORKERS = 8;
    int KEYS_OF_CRASHING_WORKERS = 12;
    InDoubtSettings CAUTIOUS = new InDoubtSettings(InDoubtPolicy.PARK, null, List.of());

    /**
     * The next worker finds the key in doubt if the dead worker may have had unrecorded effects. Otherwise, the next
     * worker finds the key not in doubt.
     */
    @ParameterizedTest
    @EnumSource
    default void nextWorkerLearnsWhatTheDeadOneMayHaveDone(CrashStep point) {
        for (Way way : Way.values()) {
            requireThatTheNextOneLearns(point, way);
        }
    }

    private void requireThatTheNextOneLearns(CrashStep point, Way way) {
        ClaimKey key = newKey();
        var journal = new EffectJournal();
        var dead = new CrashingWorker(this, way, journal, point);
        var next = new CrashingWorker(this, way, journal, CrashStep.NEVER);

        assertThat(dead.deliver(key, InDoubtSettings.RERUN))
                .as("%s deletes", way)
                .isEqualTo(point == CrashStep.NEVER);
        assertThat(next.deliver(key, InDoubtSettings.RERUN))
                .as("%s deletes", way)
                .isTrue();

        switch (point) {
            case BEFORE_CLAIM -> assertThat(next.learned()).satisfies(claim -> assertAttempt(claim, 1, false));
            case AFTER_RELEASE -> assertThat(next.learned()).satisfies(claim -> assertAttempt(claim, 2, false));
            case AFTER_CLAIM, BEFORE_EFFECT, AFTER_EFFECT, BEFORE_COMPLETION, BEFORE_RELEASE ->
                assertThat(next.learned()).satisfies(claim -> assertAttempt(claim, 2, true));
            case AFTER_COMPLETION, BEFORE_ACKNOWLEDGE, NEVER ->
                assertThat(next.learned()).isNull();
        }
        assertThat(Stream.of(dead, next).map(CrashingWorker::learned).filter(Objects::nonNull))
                .allMatch(claim -> claim.downstreamKey().equals(key.downstreamKey()));
        assertThat(journal.completions(key)).isEqualTo(1);
        assertThat(claim(store(), request(key))).isEqualTo(way.completed());
    }

    private static void assertAttempt(Claim claim, int attempt, boolean inDoubt) {
        assertThat(claim.attempt()).isEqualTo(attempt);
        assertThat(claim.isInDoubt()).isEqualTo(inDoubt);
    }

    /** If workers park keys in doubt, no effect happens twice, at whatever step a worker dies. */
    @ParameterizedTest
    @EnumSource
    default void cautiousWorkersNeverRepeatAnEffect(CrashStep point) {
        for (Way way : Way.values()) {
            requireThatCautionRepeatsNothing(point, way);
        }
    }

    private void requireThatCautionRepeatsNothing(CrashStep point, Way way) {
        ClaimKey key = newKey();
        var journal = new EffectJournal();
        var dead = new CrashingWorker(this, way, journal, point);
        var next = new CrashingWorker(this, way, journal, CrashStep.NEVER);

        dead.deliver(key, CAUTIOUS);
        boolean deleted = next.deliver(key, CAUTIOUS);

        switch (point) {
            case AFTER_CLAIM, BEFORE_EFFECT, AFTER_EFFECT, BEFORE_COMPLETION, BEFORE_RELEASE -> {
                assertThat(next.learned()).as("what another handler learned").isNull();
                assertThat(deleted).isFalse();
                assertThat(journal.effects(key)).isEqualTo(point.hasUnrecordedEffect() ? 1 : 0);
                assertThat(claim(store(), request(key))).isEqualTo(new Parked());
            }
            case BEFORE_CLAIM, AFTER_RELEASE, AFTER_COMPLETION, BEFORE_ACKNOWLEDGE, NEVER -> {
                assertThat(deleted).isTrue();
                assertThat(journal.effects(key)).isEqualTo(1);
                assertThat(claim(store(), request(key))).isEqualTo(way.completed());
            }
        }
    }

    /**
     * Each worker handles one message of each key, and receives the message again until it is deleted. So all workers
     * compete for the same keys.
     */
    @Test
    default void workersThatDieAnywhereCompleteEachKeyOnceAndNeverOverlap() throws Exception {
        List<ClaimKey> keys =
                Stream.generate(Claims::newKey).limit(KEYS_OF_CRASHING_WORKERS).toList();
        var journal = new EffectJournal();

        Threads.run(WORKERS, () -> {
            for (ClaimKey key : keys) {
                boolean deleted = false;
                while (!deleted && !Thread.currentThread().isInterrupted()) {
                    deleted = new CrashingWorker(this, Way.random(), journal, CrashStep.random())
                            .deliver(key, InDoubtSettings.RERUN);
                }
            }
        });

        assertThat(keys).allSatisfy(key -> {
            assertThat(journal.completions(key)).isEqualTo(1);
            assertThat(claim(store(), request(key))).isInstanceOf(AlreadyCompleted.class);
        });
    }

    /**
     * Each worker's handler pauses for longer than its lease, so the next worker takes the key over, and all handlers
     * overlap. Only one worker completes the key and deletes its message.
     */
    @Test
    default void ofWorkersThatOverlapAfterPausesOneCompletesTheKey() throws Exception {
        for (int i = 0; i < KEYS_OF_CRASHING_WORKERS; i++) {
            ClaimKey key = newKey();
            var journal = new EffectJournal();
            var running = new CountDownLatch(WORKERS);
            var deleted = new AtomicInteger();
            Way way = i % 2 == 0 ? Way.SINGLE : Way.BATCH;

            Threads.run(WORKERS, () -> {
                if (new PausingWorker(this, way, journal, running).deliver(key)) {
                    deleted.incrementAndGet();
                }
            });

            assertThat(journal.completions(key)).isEqualTo(1);
            assertThat(deleted).as("messages that were deleted").hasValue(1);
        }
    }
}
