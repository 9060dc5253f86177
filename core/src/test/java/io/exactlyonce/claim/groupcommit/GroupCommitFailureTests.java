package io.exactlyonce.claim.groupcommit;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.claim.GatedStore;
import io.exactlyonce.claim.GatedStore.Batch;
import io.exactlyonce.claim.Threads;
import io.exactlyonce.claim.groupcommit.GroupCommitRig.Caller;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What callers get when the store is slow, failing, or gone. */
@Timeout(60)
class GroupCommitFailureTests {

    @Test
    void entryThatCanNeverBeStoredFailsAloneAndOnlyItsCallerLearnsOfIt() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig()) {
            ClaimRequest poison = request(newKey());
            List<ClaimRequest> good =
                    Stream.generate(() -> request(newKey())).limit(10).toList();
            rig.store.onBatch(entries -> {
                if (entries.contains(new ClaimEnd.Completed(poison.id(), "1"))) {
                    throw new IllegalArgumentException("bad bytes");
                }
            });
            rig.claim(request(newKey()));
            Batch busy = rig.store.next();
            List<Caller<Boolean>> neighbours = new ArrayList<>();
            good.subList(0, 5).forEach(each -> neighbours.add(rig.complete(each, "1")));
            Caller<Boolean> culprit = rig.complete(poison, "1");
            good.subList(5, 10).forEach(each -> neighbours.add(rig.complete(each, "1")));
            rig.store.open();
            busy.answer();

            for (Caller<Boolean> neighbour : neighbours) {
                assertThat(neighbour.answer().get()).isTrue();
            }
            assertThatThrownBy(() -> culprit.answer().get())
                    .cause()
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("bad bytes");
        }
    }

    @Test
    void endWhoseRowIsLockedFailsAloneAndNothingIsRepeatedForIt() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig()) {
            ClaimRequest zombie = request(newKey());
            ClaimRequest neighbour = request(newKey());
            ClaimRequest fresh = request(newKey());
            rig.store.lock(zombie.id());
            rig.claim(request(newKey()));
            Batch busy = rig.store.next();
            Caller<Set<ClaimId>> both = GroupCommitRig.call(() -> rig.end(
                    List.of(new ClaimEnd.Completed(zombie.id(), "1"), new ClaimEnd.Completed(neighbour.id(), "1"))));
            Caller<ClaimOutcome> claim = rig.claim(fresh);
            busy.answer();
            rig.store.next().answer();

            assertThatThrownBy(() -> both.answer().get())
                    .cause()
                    .isInstanceOfSatisfying(ClaimsPartlyAnsweredException.class, locked -> {
                        assertThat(locked.unanswered()).containsExactly(zombie.id());
                        assertThat(locked.granted()).containsExactly(neighbour.id());
                    });
            assertThat(claim.answer().get()).isEqualTo(GatedStore.outcome(fresh));
            assertThat(rig.store.entries()).hasSize(4);
        }
    }

    @Test
    void failureOfTheStoreIsTheWholeBatchsAndIsNotRepeated() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig()) {
            rig.claim(request(newKey()));
            Batch busy = rig.store.next();
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
            // Callers add to what they catch, so each has a throwable of its own.
            assertThat(Set.copyOf(failures)).hasSize(4);
            assertThat(rig.store.entries()).hasSize(5);
        }
    }

    @Test
    void flusherOutlivesWhateverAStoreThrows() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig()) {
            rig.store.open();
            rig.store.onBatch(entries -> {
                throw new StackOverflowError("as if");
            });
            Caller<ClaimOutcome> failed = rig.claim(request(newKey()));
            assertThatThrownBy(() -> failed.answer().get()).hasCauseInstanceOf(ClaimStoreUnavailableException.class);

            rig.store.onBatch(entries -> {});
            ClaimRequest next = request(newKey());
            assertThat(rig.claim(next).answer().get()).isEqualTo(GatedStore.outcome(next));
        }
    }

    @Test
    void callsThatWaitForTooLongAreRefusedAndNeverReachTheStore() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig(1, 256, Duration.ofMillis(50))) {
            rig.claim(request(newKey()));
            Batch stuck = rig.store.next();
            Caller<Boolean> completion = rig.complete(request(newKey()), "1");

            assertThatThrownBy(() -> completion.answer().get())
                    .cause()
                    .isInstanceOf(ClaimStoreBusyException.class)
                    .hasMessageContaining("busy for 50 ms")
                    .hasMessageContaining("find out what slows the database down");
            stuck.answer();
            Awaitility.await().until(() -> rig.store.entries().size() == 1);
        }
    }

    @Test
    void callThatWaitsForTooLongIsRefusedThoughEachFlusherIsStuckAndNeverReachesTheStore() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig(1, 256, Duration.ofMillis(50))) {
            var stuck = rig.front.claimAsync(List.of(request(newKey())));
            Batch onItsWay = rig.store.next();
            var refused = rig.front.claimAsync(List.of(request(newKey())));
            var refusedToo = rig.front.endAsync(
                    List.of(new ClaimEnd.Completed(request(newKey()).id(), "1")), true);

            assertThatThrownBy(refused::get)
                    .cause()
                    .isInstanceOf(ClaimStoreBusyException.class)
                    .hasMessageContaining("busy for 50 ms");
            assertThatThrownBy(refusedToo::get).hasCauseInstanceOf(ClaimStoreBusyException.class);
            assertThat(stuck).isNotDone();
            onItsWay.answer();
            assertThat(stuck.get()).hasSize(1);
            assertThat(rig.store.entries()).hasSize(1);
        }
    }

    /** Its caller gives nothing up of a call that never reached the store: what stood of it would be held for its lease. */
    @Test
    void callThatWaitsForTooLongForOneOfItsKeysNeverReachesTheStoreWithAnother() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig(2, 256, Duration.ofMillis(50))) {
            ClaimRequest held = request(newKey());
            rig.front.claimAsync(List.of(held));
            Batch stuck = rig.store.next();
            var refused = rig.front.claimAsync(List.of(request(newKey()), request(held.key())));

            assertThatThrownBy(refused::get).hasCauseInstanceOf(ClaimStoreBusyException.class);
            stuck.answer();
            assertThat(rig.store.entries()).containsExactly(held);
        }
    }

    @Test
    void patienceIsWatchedAgainAfterTheQueueWasEmpty() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig(1, 256, Duration.ofMillis(50))) {
            for (int round = 0; round < 3; round++) {
                var onItsWay = rig.front.claimAsync(List.of(request(newKey())));
                Batch batch = rig.store.next();
                var refused = rig.front.claimAsync(List.of(request(newKey())));
                await().atMost(Duration.ofSeconds(10)).until(refused::isCompletedExceptionally);
                batch.answer();
                onItsWay.get();
            }
        }
    }

    @Test
    void callThatEndsClaimsInSeveralWaysIsRefusedAsAWhole() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig(1, 256, Duration.ofMillis(50))) {
            rig.claim(request(newKey()));
            Batch stuck = rig.store.next();
            Caller<Set<ClaimId>> ends = GroupCommitRig.call(() -> rig.end(List.of(
                    new ClaimEnd.Completed(request(newKey()).id(), "1"),
                    new ClaimEnd.Released(request(newKey()).id(), "failed", false),
                    new ClaimEnd.Parked(request(newKey()).id(), "told to", false))));

            assertThatThrownBy(() -> ends.answer().get()).hasCauseInstanceOf(ClaimStoreBusyException.class);
            stuck.answer();
            Awaitility.await().until(() -> rig.store.entries().size() == 1);
        }
    }

    @Test
    void secondFlusherGoesOnWhileTheFirstIsStuck() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig(2, 256, GroupCommitRig.PATIENCE)) {
            rig.claim(request(newKey()));
            Batch stuck = rig.store.next();
            ClaimRequest other = request(newKey());
            Caller<ClaimOutcome> caller = rig.claim(other);

            rig.store.next().answer();

            assertThat(caller.answer().get()).isEqualTo(GatedStore.outcome(other));
            stuck.answer();
        }
    }

    @Test
    void noMoreAreOnTheirWayAtATimeThanThereAreFlushers() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig(2, 256, GroupCommitRig.PATIENCE)) {
            rig.claim(request(newKey()));
            Batch first = rig.store.next();
            rig.claim(request(newKey()));
            Batch second = rig.store.next();
            Caller<ClaimOutcome> third = rig.claim(request(newKey()));

            // Several times as long as after which a flusher would help one that is stuck.
            assertThatThrownBy(() -> third.answer().get(100, TimeUnit.MILLISECONDS))
                    .isInstanceOf(TimeoutException.class);
            assertThat(rig.store.hasArrived()).isFalse();
            first.answer();
            rig.store.next().answer();
            assertThat(third.answer().get(10, TimeUnit.SECONDS)).isInstanceOf(ClaimOutcome.Acquired.class);
            second.answer();
        }
    }

    @Test
    void interruptedFlusherGoesOn() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig()) {
            rig.store.open();
            rig.claim(request(newKey())).answer().get(10, TimeUnit.SECONDS);

            Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("exactly-once-claims"))
                    .forEach(Thread::interrupt);

            ClaimRequest next = request(newKey());
            assertThat(rig.claim(next).answer().get(10, TimeUnit.SECONDS)).isEqualTo(GatedStore.outcome(next));
        }
    }

    /** A call that no flusher hears would wait for ever: callers and flushers meet at any point of each other's steps. */
    @Test
    void eachCallIsHeardWhateverTheFlushersAreDoing() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig(2, 256, GroupCommitRig.PATIENCE)) {
            rig.store.open();
            rig.store.onBatch(entries -> Thread.yield());
            int calls = 5_000;

            Threads.run(3, () -> {
                for (int i = 0; i < calls; i++) {
                    ClaimRequest claim = request(newKey());
                    rig.front.claimAsync(List.of(claim)).join();
                    if (ThreadLocalRandom.current().nextInt(4) == 0) {
                        Thread.yield();
                    }
                    ClaimEnd completion = new ClaimEnd.Completed(claim.id(), "1");
                    rig.front.endAsync(List.of(completion), true).join();
                }
            });

            assertThat(rig.store.entries()).hasSize(3 * 2 * calls);
        }
    }

    @Test
    void closingFlushesWhatWaits() throws Exception {
        GroupCommitRig rig = new GroupCommitRig();
        rig.claim(request(newKey()));
        Batch busy = rig.store.next();
        ClaimRequest waiting = request(newKey());
        Caller<ClaimOutcome> caller = rig.claim(waiting);
        Caller<Boolean> closing = GroupCommitRig.call(() -> {
            rig.front.close();
            return true;
        });
        rig.store.open();
        busy.answer();

        assertThat(closing.answer().get()).isTrue();
        assertThat(caller.answer().get()).isEqualTo(GatedStore.outcome(waiting));
        assertThat(flushers()).isEmpty();
    }

    @Test
    void closingRefusesWhatCannotBeFlushedAndWhatComesLater() throws Exception {
        GroupCommitRig rig = new GroupCommitRig(1, 256, Duration.ofMillis(300));
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
        Awaitility.await().until(() -> flushers().isEmpty());
    }

    @Test
    void callAfterTheEndFailsAndThrowsNothing() {
        GroupCommitRig rig = new GroupCommitRig();
        rig.close();

        assertThatThrownBy(
                        () -> rig.front.claimAsync(List.of(request(newKey()))).get())
                .hasCauseInstanceOf(ClaimStoreBusyException.class);
    }

    @Test
    void unusedStoreHasNoThreads() {
        try (GroupCommitRig rig = new GroupCommitRig()) {
            assertThat(rig.store.entries()).isEmpty();
            assertThat(flushers()).isEmpty();
        }
    }

    @Test
    void thousandVirtualThreadsAreServed() throws Exception {
        try (GroupCommitRig rig = new GroupCommitRig(2, 256, GroupCommitRig.PATIENCE)) {
            rig.store.open();
            ExecutorService virtual = virtualThreads();
            List<ClaimRequest> requests =
                    Stream.generate(() -> request(newKey())).limit(1_000).toList();
            List<Future<Boolean>> calls = new ArrayList<>();
            for (ClaimRequest each : requests) {
                calls.add(virtual.submit(() -> rig.claim(List.of(each)).get(0).equals(GatedStore.outcome(each))
                        && rig.end(List.of(new ClaimEnd.Completed(each.id(), "1")))
                                .contains(each.id())));
            }
            for (Future<Boolean> call : calls) {
                assertThat(answer(call)).isTrue();
            }
            virtual.shutdown();
        }
    }

    private static boolean answer(Future<Boolean> call) throws Exception {
        return call.get(30, TimeUnit.SECONDS);
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

    private static List<String> flushers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .map(Thread::getName)
                .filter(name -> name.startsWith("exactly-once-claim"))
                .toList();
    }
}
