package io.exactlyonce.claim;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.GatedStore.Batch;
import io.exactlyonce.claim.coalescing.CoalescingClaimStoreRig;
import io.exactlyonce.claim.coalescing.CoalescingClaimStoreRig.Caller;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Callers that call the store themselves while hardly anybody else calls, and when they leave it to a flusher. */
@Timeout(60)
class CallersFlushTests {

    private final CoalescingClaimStoreRig rig =
            new CoalescingClaimStoreRig(true, 2, 256, 10_000, CoalescingClaimStoreRig.PATIENCE);
    private final List<Thread> threads = new CopyOnWriteArrayList<>();

    CallersFlushTests() {
        rig.store.onBatch(entries -> threads.add(Thread.currentThread()));
    }

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void aloneItFlushesForItself() {
        rig.store.open();
        ClaimRequest claim = request(newKey());

        assertThat(rig.coalescer.claim(List.of(claim))).containsExactly(GatedStore.outcome(claim));
        assertThat(Claims.complete(rig.coalescer, claim, "1")).isTrue();

        assertThat(threads).containsExactly(Thread.currentThread(), Thread.currentThread());
    }

    @Test
    void renewalsAreAlwaysFlushedByAThreadOfTheirOwn() {
        rig.store.open();

        assertThat(Claims.renew(rig.coalescer, request(newKey()))).isTrue();

        assertThat(threads).extracting(Thread::getName).containsExactly("exactly-once-claim-renewals-1");
    }

    @Test
    void whoeverMayNotLeavesItToAFlusher() {
        try (CoalescingClaimStoreRig other = new CoalescingClaimStoreRig(false)) {
            other.store.open();
            other.store.onBatch(entries -> threads.add(Thread.currentThread()));

            other.coalescer.claim(List.of(request(newKey())));
        }

        assertThat(threads).extracting(Thread::getName).containsExactly("exactly-once-claims-1");
    }

    @Test
    void whatComesMeanwhileGoesTogetherAndTheCallerDoesNotWaitForIt() throws Exception {
        try (CoalescingClaimStoreRig one =
                new CoalescingClaimStoreRig(true, 1, 256, 10_000, CoalescingClaimStoreRig.PATIENCE)) {
            Caller<ClaimOutcome> first = one.claim(request(newKey()));
            Batch alone = one.store.next();
            List<ClaimRequest> others =
                    Stream.generate(() -> request(newKey())).limit(3).toList();
            others.forEach(one::claim);
            alone.answer();
            Batch together = one.store.next();

            assertThat(first.answer().get(10, TimeUnit.SECONDS)).isInstanceOf(ClaimOutcome.Acquired.class);
            assertThat(together.entries()).isEqualTo(others);
            together.answer();
        }
    }

    @Test
    void afterABatchOfSeveralCallersAFlusherGathersTheNext() throws Exception {
        try (CoalescingClaimStoreRig one =
                new CoalescingClaimStoreRig(true, 1, 256, 10_000, CoalescingClaimStoreRig.PATIENCE)) {
            one.store.onBatch(entries -> threads.add(Thread.currentThread()));
            one.claim(request(newKey()));
            Batch alone = one.store.next();
            one.claim(request(newKey()));
            Caller<ClaimOutcome> last = one.claim(request(newKey()));
            alone.answer();
            one.store.next().answer();
            last.answer().get(10, TimeUnit.SECONDS);
            one.store.open();

            one.coalescer.claim(List.of(request(newKey())));
            assertThat(threads).hasSize(3);
            assertThat(threads.get(2).getName()).isEqualTo("exactly-once-claims-1");

            // From when the flusher has turned to its next batch.
            Awaitility.await().pollInSameThread().until(() -> {
                one.coalescer.claim(List.of(request(newKey())));
                return threads.get(threads.size() - 1) == Thread.currentThread();
            });
        }
    }

    @Test
    void stuckCallerKeepsNobodyWaiting() throws Exception {
        rig.claim(request(newKey()));
        Batch stuck = rig.store.next();

        Caller<ClaimOutcome> other = rig.claim(request(newKey()));
        rig.store.next().answer();

        assertThat(other.answer().get(10, TimeUnit.SECONDS)).isInstanceOf(ClaimOutcome.Acquired.class);
        stuck.answer();
    }

    @Test
    void noMoreAreOnTheirWayAtATimeThanThereAreFlushers() throws Exception {
        rig.claim(request(newKey()));
        Batch first = rig.store.next();
        rig.claim(request(newKey()));
        Batch second = rig.store.next();
        Caller<ClaimOutcome> third = rig.claim(request(newKey()));

        // It has called for help several times by then.
        assertThatThrownBy(() -> third.answer().get(100, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        assertThat(rig.store.hasArrived()).isFalse();
        first.answer();
        rig.store.next().answer();
        assertThat(third.answer().get(10, TimeUnit.SECONDS)).isInstanceOf(ClaimOutcome.Acquired.class);
        second.answer();
    }

    @Test
    void failureByAnInterruptOnTheWayIsRepeatedAndTheInterruptIsKept() {
        rig.store.open();
        AtomicInteger calls = new AtomicInteger();
        rig.store.onBatch(entries -> {
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            if (calls.incrementAndGet() == 1) {
                throw interrupted();
            }
        });

        assertThat(Claims.complete(rig.coalescer, request(newKey()), "1")).isTrue();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(calls).hasValue(2);
    }

    @Test
    void failureByOneInterruptAfterTheOtherIsToldAndTheInterruptIsKept() {
        rig.store.open();
        rig.store.onBatch(entries -> {
            throw interrupted();
        });

        assertThatThrownBy(() -> Claims.complete(rig.coalescer, request(newKey()), "1"))
                .isInstanceOf(ClaimStoreUnavailableException.class);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(rig.store.entries()).hasSize(2);
    }

    /** The database may be away, and the batch has used its time up. */
    @Test
    void failureIsNotRepeatedOnlyBecauseTheCallerWasInterruptedMeanwhile() {
        rig.store.open();
        rig.store.onBatch(entries -> {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("timed out", new SocketTimeoutException());
        });

        assertThatThrownBy(() -> Claims.complete(rig.coalescer, request(newKey()), "1"))
                .isInstanceOf(ClaimStoreUnavailableException.class);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(rig.store.entries()).hasSize(1);
    }

    /** As a pool does whose connection an interrupted thread waits for. */
    private static RuntimeException interrupted() {
        Thread.currentThread().interrupt();
        return new IllegalStateException("no connection", new InterruptedException());
    }

    /** What a caller has of stack and memory is not ours: nobody else must hang for want of it. */
    @Test
    void failureThatCannotEvenBeToldLeavesNobodyWaiting() {
        rig.store.open();
        rig.store.onBatch(entries -> {
            throw new IllegalStateException() {
                @Override
                public String getMessage() {
                    throw new StackOverflowError("as if");
                }
            };
        });
        ClaimRequest claim = request(newKey());
        assertThatThrownBy(() -> Claims.complete(rig.coalescer, claim, "1"))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessageContaining("got lost on its way back");

        rig.store.onBatch(entries -> {});

        assertThat(Claims.complete(rig.coalescer, claim, "1")).isTrue();
    }

    @Test
    void whoeverIsInterruptedBeforeLeavesItToAFlusher() throws Exception {
        rig.store.open();
        ClaimRequest done = request(newKey());
        AtomicBoolean interrupted = new AtomicBoolean();
        Caller<Boolean> caller = CoalescingClaimStoreRig.call(() -> {
            Thread.currentThread().interrupt();
            boolean completed = Claims.complete(rig.coalescer, done, "1");
            interrupted.set(Thread.interrupted());
            return completed;
        });

        assertThat(caller.answer().get(10, TimeUnit.SECONDS)).isTrue();
        assertThat(interrupted).isTrue();
        assertThat(threads).doesNotContain(caller.thread());
    }

    @Test
    void failureIsTheCallersAndIsNotRepeated() {
        rig.store.open();
        rig.store.onBatch(entries -> {
            throw new IllegalStateException("the database is away");
        });

        assertThatThrownBy(() -> Claims.complete(rig.coalescer, request(newKey()), "1"))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessage("The store did not answer a batch of 1: the database is away");
        assertThat(rig.store.entries()).hasSize(1);
    }

    @Test
    void closingAwaitsTheStoresAnswerToACaller() throws Exception {
        rig.claim(request(newKey()));
        Batch onItsWay = rig.store.next();
        Caller<List<Thread>> closing = CoalescingClaimStoreRig.call(() -> {
            rig.coalescer.close();
            return List.copyOf(threads);
        });
        assertThat(closing.answer()).isNotDone();

        onItsWay.answer();

        assertThat(closing.answer().get(10, TimeUnit.SECONDS))
                .as("whom the store has answered")
                .hasSize(1);
    }

    @Test
    void allAreAnsweredWhileCallersAndFlushersTakeTurns() throws Exception {
        rig.store.open();
        rig.store.onBatch(entries -> Thread.yield());
        int calls = 5_000;

        Threads.run(3, () -> {
            for (int i = 0; i < calls; i++) {
                ClaimRequest claim = request(newKey());
                rig.coalescer.claim(List.of(claim));
                if (ThreadLocalRandom.current().nextInt(4) == 0) {
                    Thread.yield();
                }
                Claims.complete(rig.coalescer, claim, "1");
            }
        });

        assertThat(rig.store.entries()).hasSize(3 * 2 * calls);
    }
}
