package io.exactlyonce.claim.groupcommit;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.GatedStore;
import io.exactlyonce.claim.GatedStore.Batch;
import io.exactlyonce.claim.Threads;
import io.exactlyonce.claim.groupcommit.GroupCommitRig.Caller;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the answers to callers when the store is slow or fails, and when the group commit closes. */
@Timeout(60)
class GroupCommitFailureTests {

    private GroupCommitRig rig = new GroupCommitRig();

    @AfterEach
    void close() {
        rig.close();
    }

    /** Creates a group commit that refuses a call after a wait of 50 ms. */
    private void impatient() {
        rig = new GroupCommitRig(1, 256, Duration.ofMillis(50));
    }

    @Test
    void failureOfTheStoreIsTheWholeBatchsAndIsNotRepeated() throws Exception {
        Batch busy = rig.block();
        List<Caller<ClaimOutcome>> callers =
                Stream.generate(() -> rig.claim(request(newKey()))).limit(4).toList();
        busy.answer();
        rig.store.next().fail(new IllegalStateException("the database is away"));

        List<Throwable> failures = new ArrayList<>();
        for (Caller<ClaimOutcome> caller : callers) {
            assertThatThrownBy(() -> caller.answer().get())
                    .cause()
                    .isInstanceOf(ClaimStoreUnavailableException.class)
                    .hasMessage("The store did not answer a batch of 4: the database is away")
                    .satisfies(failures::add);
        }
        // A caller may add suppressed exceptions to its failure, so no two callers share an exception.
        assertThat(Set.copyOf(failures)).hasSize(4);
        assertThat(rig.store.entries()).hasSize(5);
    }

    @Test
    void callThatWaitsForTooLongIsRefusedThoughEachFlusherIsStuckAndNeverReachesTheStore() throws Exception {
        impatient();
        var stuck = rig.front.claimAsync(List.of(request(newKey())));
        Batch onItsWay = rig.store.next();
        var refused = rig.front.claimAsync(List.of(request(newKey())));
        var refusedToo = rig.front.resolveAsync(
                List.of(new ClaimResolution.Completed(request(newKey()).id(), "1")), true);

        assertThatThrownBy(refused::get)
                .cause()
                .isInstanceOf(ClaimStoreBusyException.class)
                .hasMessageContaining("busy for 50 ms")
                .hasMessageContaining("find out what slows it down");
        assertThatThrownBy(refusedToo::get).hasCauseInstanceOf(ClaimStoreBusyException.class);
        assertThat(stuck).isNotDone();
        onItsWay.answer();
        assertThat(stuck.get().outcomes()).hasSize(1);
        assertThat(rig.store.entries()).hasSize(1);
    }

    @Test
    void patienceIsWatchedAgainAfterTheQueueWasEmpty() throws Exception {
        impatient();
        for (int round = 0; round < 3; round++) {
            var onItsWay = rig.front.claimAsync(List.of(request(newKey())));
            Batch batch = rig.store.next();
            var refused = rig.front.claimAsync(List.of(request(newKey())));
            await().atMost(Duration.ofSeconds(10)).until(refused::isCompletedExceptionally);
            batch.answer();
            onItsWay.get();
        }
    }

    /**
     * A lease counts from the time at which its batch is sent to the store. If the store rejects a batch, the halves
     * are sent again, and each lease counts from the time at which its half is sent.
     */
    @Test
    void claimsAreRequestedWhenTheirBatchGoesToTheStoreAndNotBefore() throws Exception {
        Batch busy = rig.block();
        var first = rig.front.claimAsync(List.of(request(newKey())));
        var second = rig.front.claimAsync(List.of(request(newKey())));
        long called = System.nanoTime();

        busy.answer();
        Batch both = rig.store.next();
        long bothWereSent = System.nanoTime();
        both.fail(new IllegalArgumentException("a text with NUL"));
        Batch half = rig.store.next();
        long firstWasSent = System.nanoTime();
        half.answer();
        rig.store.next().answer();

        assertThat(first.get().outcomes()).hasSize(1);
        assertThat(first.get().askedAt() - called).isPositive();
        assertThat(first.get().askedAt()).isBetween(bothWereSent, firstWasSent);
        assertThat(second.get().outcomes()).hasSize(1);
        assertThat(second.get().askedAt()).isGreaterThan(firstWasSent);
    }

    /**
     * A call that no flusher notices would wait forever. The threads yield at random, so calls arrive at any step of
     * the flushers.
     */
    @Test
    void eachCallIsHeardWhateverTheFlushersAreDoing() throws Exception {
        try (GroupCommitRig two = new GroupCommitRig(2, 256, GroupCommitRig.QUEUE_TIMEOUT)) {
            two.store.open();
            two.store.onBatch(entries -> Thread.yield());
            int calls = 5_000;

            Threads.run(3, () -> {
                for (int i = 0; i < calls; i++) {
                    ClaimRequest claim = request(newKey());
                    two.front.claimAsync(List.of(claim)).join();
                    if (ThreadLocalRandom.current().nextInt(4) == 0) {
                        Thread.yield();
                    }
                    two.front
                            .resolveAsync(List.of(new ClaimResolution.Completed(claim.id(), "1")), true)
                            .join();
                }
            });

            assertThat(two.store.entries()).hasSize(3 * 2 * calls);
        }
    }

    @Test
    void closingRefusesWhatCannotBeFlushedAndWhatComesLater() throws Exception {
        impatient();
        Caller<ClaimOutcome> onItsWay = rig.claim(request(newKey()));
        Batch stuck = rig.store.next();
        Caller<Boolean> waiting = rig.complete(request(newKey()), "1");

        rig.front.close();

        assertThatThrownBy(() -> waiting.answer().get()).hasCauseInstanceOf(ClaimStoreBusyException.class);
        assertThatThrownBy(() -> rig.claim(List.of(request(newKey()))))
                .isInstanceOf(ClaimStoreBusyException.class)
                .hasMessageContaining("stopped");
        stuck.answer();
        assertThat(onItsWay.answer().get()).isInstanceOf(ClaimOutcome.Acquired.class);
        await().until(() -> flushers().isEmpty());
    }

    /**
     * A completion that is not flushed would leave its effect in doubt. If an idle flusher ends first, the other
     * flusher must still flush.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void closingFlushesACompletionThatWaitsForItsKey(int flushers) throws Exception {
        rig = new GroupCommitRig(flushers, 256, GroupCommitRig.QUEUE_TIMEOUT);
        ClaimRequest request = request(newKey());
        Caller<ClaimOutcome> claim = rig.claim(request);
        Batch onItsWay = rig.store.next();
        Caller<Boolean> completion = rig.complete(request, "1");

        long waits = waitsOfFlushers();
        Thread closing = new Thread(rig.front::close);
        closing.start();
        await().until(() -> closing.getState() == Thread.State.TIMED_WAITING || !closing.isAlive());
        // An idle flusher wakes up when the close begins, and then waits again or ends.
        await().until(() ->
                flushers == 1 || waitsOfFlushers() > waits || flushers().size() < flushers);
        onItsWay.answer();
        assertThat(claim.answer().get()).isInstanceOf(ClaimOutcome.Acquired.class);
        rig.store.next().answer();

        assertThat(completion.answer().get()).isTrue();
        closing.join();
    }

    private static List<Thread> flushers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .filter(thread -> thread.getName().startsWith("exactly-once-claim"))
                .toList();
    }

    /** Returns how often running flushers started to wait. */
    private static long waitsOfFlushers() {
        return flushers().stream()
                .map(flusher -> ManagementFactory.getThreadMXBean().getThreadInfo(flusher.getId()))
                .filter(Objects::nonNull)
                .mapToLong(ThreadInfo::getWaitedCount)
                .sum();
    }

    @Test
    void thousandVirtualThreadsAreServed() throws Exception {
        rig.store.open();
        ExecutorService virtual = virtualThreads();
        List<Future<Boolean>> calls = new ArrayList<>();
        for (int call = 0; call < 1_000; call++) {
            ClaimRequest each = request(newKey());
            calls.add(virtual.submit(() -> rig.claim(List.of(each)).get(0).equals(GatedStore.outcome(each))
                    && rig.end(List.of(new ClaimResolution.Completed(each.id(), "1")))
                            .contains(each.id())));
        }
        for (Future<Boolean> call : calls) {
            assertThat(call.get(30, TimeUnit.SECONDS)).isTrue();
        }
        virtual.shutdown();
    }

    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException tooOld) {
            Assumptions.abort("This Java has no virtual threads");
            throw tooOld;
        }
    }
}
