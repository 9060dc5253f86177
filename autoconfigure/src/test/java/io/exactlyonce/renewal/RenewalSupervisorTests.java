package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.renewal.RenewalObserver.Target;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.QueueVisibility;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.QueueVisibility.Result;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.ScriptedQueue.LateAnswer;
import io.exactlyonce.visibility.ScriptedStore;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RenewalSupervisorTests {

    private static final Duration LENGTH = Duration.ofSeconds(30);
    private static final int RETRIES = 3;

    private final FakeClock clock = new FakeClock();
    private final ScriptedStore store = new ScriptedStore();
    private final ScriptedQueue queue = new ScriptedQueue();
    private final Subscription orders = subscription("orders", queue);
    private final List<Event> events = new ArrayList<>();
    private final AtomicInteger timesTold = new AtomicInteger();
    private final Deque<Runnable> submitted = new ArrayDeque<>();
    private Executor leaseExecutor = Runnable::run;
    private double random;

    private record Event(Target target, RenewalObserver.Result result) {}

    private RenewalSupervisor supervisor(double jitter) {
        RenewalObserver observer = new RenewalObserver() {
            @Override
            public void renewed(Subscription subscription, Target target, RenewalObserver.Result result) {
                events.add(new Event(target, result));
            }
        };
        return new RenewalSupervisor(
                store,
                new RenewalSchedule(0.5, jitter, RETRIES),
                observer,
                task -> leaseExecutor.execute(task),
                clock,
                () -> random);
    }

    private final RenewalSupervisor supervisor = supervisor(0);

    @Test
    void windowIsRenewedAtHalfCountedFromTheReceive() {
        long receivedAt = clock.nanoTime();
        clock.advance(Duration.ofSeconds(4));
        supervisor.start(orders, "handle", receivedAt);

        tickFor(Duration.ofMillis(10_900));
        assertThat(queue.requests()).isEmpty();

        tickFor(Duration.ofMillis(100));
        assertThat(queue.changes()).containsExactly(new Change("handle", 30));
        assertThat(events).containsExactly(new Event(Target.WINDOW, RenewalObserver.Result.SUCCEEDED));
    }

    @Test
    void leaseIsRenewedAtHalfCountedFromBeforeItWasAskedFor() {
        Renewal renewal = start("handle");
        long begun = clock.nanoTime();
        clock.advance(Duration.ofSeconds(2));
        ClaimId claim = hold(renewal, begun);

        tickFor(Duration.ofMillis(7_900));
        assertThat(store.renewals()).isEmpty();

        tickFor(Duration.ofMillis(100));
        assertThat(store.renewals()).containsExactly(List.of(new LeaseRenewal(claim, Duration.ofSeconds(20))));
        assertThat(events).contains(new Event(Target.LEASE, RenewalObserver.Result.SUCCEEDED));
    }

    @Test
    void everyRenewalHasTheSameLead() {
        random = 0.5;
        RenewalSupervisor jittery = supervisor(0.2);
        long receivedAt = clock.nanoTime();
        jittery.start(orders, "handle", receivedAt);
        random = 0.9;

        List<Duration> sentAt = new ArrayList<>();
        for (int tick = 0; tick < 600; tick++) {
            clock.advance(RenewalSupervisor.TICK);
            int before = queue.requests().size();
            jittery.tick();
            if (queue.requests().size() > before) {
                sentAt.add(Duration.ofNanos(clock.nanoTime() - receivedAt));
            }
        }

        assertThat(sentAt).extracting(Duration::toMillis).containsExactly(13_500L, 27_000L, 40_500L, 54_000L);
        assertThat(queue.changes()).extracting(Change::seconds).containsOnly(30);
    }

    @Test
    void leadIsCountedFromTheAttemptAndNotFromItsAnswer() {
        start("handle");
        LateAnswer late = queue.answerLater();
        tickFor(Duration.ofSeconds(15));
        tickFor(Duration.ofSeconds(5));
        late.give(Result.CHANGED);

        tickFor(Duration.ofMillis(9_900));
        assertThat(queue.requests()).hasSize(1);

        tickFor(Duration.ofMillis(100));
        assertThat(queue.requests()).hasSize(2);
    }

    @Test
    void leaseCountsFromBeforeTheStoreWasAsked() {
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());
        store.onRenew(requested -> {
            clock.advance(Duration.ofSeconds(5));
            return requested;
        });
        tickFor(Duration.ofSeconds(10));
        assertThat(store.renewals()).hasSize(1);

        clock.advance(Duration.ofMillis(14_999));
        assertThat(renewal.isHeld()).isTrue();

        clock.advance(Duration.ofMillis(1));
        assertThat(renewal.isHeld()).isFalse();
    }

    @Test
    void nearlyDueRenewalsShareARequest() {
        start("due");
        clock.advance(Duration.ofMillis(1_400));
        start("nearly due");
        clock.advance(Duration.ofMillis(200));
        start("not due");

        clock.advance(Duration.ofMillis(13_400));
        supervisor.tick();

        assertThat(queue.requests()).hasSize(1);
        assertThat(queue.changes()).extracting(Change::receiptHandle).containsExactlyInAnyOrder("due", "nearly due");
    }

    @Test
    void dueLeasesShareACall() {
        hold(start("one"), clock.nanoTime());
        hold(start("two"), clock.nanoTime());

        tickFor(Duration.ofSeconds(10));

        assertThat(store.renewals()).hasSize(1);
        assertThat(store.renewals().get(0)).hasSize(2);
    }

    @Test
    void nothingIsRenewedAfterStop() {
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());
        assertThat(supervisor.inFlight()).isOne();

        renewal.stop();
        tickFor(Duration.ofMinutes(1));

        assertThat(queue.requests()).isEmpty();
        assertThat(store.renewals()).isEmpty();
        assertThat(events).isEmpty();
        assertThat(supervisor.inFlight()).isZero();
        assertThat(renewal.isHeld()).isFalse();
    }

    @Test
    void answerAfterStopIsIgnored() {
        Renewal renewal = start("handle");
        LateAnswer late = queue.answerLater();
        leaseExecutor = submitted::add;
        hold(renewal, clock.nanoTime());
        tickFor(Duration.ofSeconds(15));
        assertThat(queue.requests()).hasSize(1);
        assertThat(submitted).hasSize(1);

        renewal.stop();
        late.give(Result.REFUSED);
        store.onRenew(requested -> Set.of());
        runSubmitted();
        tickFor(Duration.ofMinutes(1));

        assertThat(events).isEmpty();
        assertThat(timesTold).hasValue(0);
        assertThat(queue.requests()).hasSize(1);
    }

    @Test
    void failedWindowIsRetriedWithinTheHeadroomAndThenLostWhileTheLeaseGoesOn() {
        random = 0.99;
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());
        queue.answer(Result.FAILED, Result.FAILED, Result.FAILED, Result.FAILED);

        tickFor(Duration.ofMillis(27_900));
        assertThat(queue.requests()).hasSize(RETRIES);

        tickFor(Duration.ofMillis(1_600));
        assertThat(windowEvents())
                .containsExactly(
                        RenewalObserver.Result.FAILED,
                        RenewalObserver.Result.FAILED,
                        RenewalObserver.Result.FAILED,
                        RenewalObserver.Result.LOST);
        assertThat(queue.requests()).hasSize(1 + RETRIES);

        tickFor(Duration.ofMinutes(2));
        assertThat(queue.requests()).hasSize(1 + RETRIES);
        assertThat(renewal.isHeld()).isTrue();
        assertThat(timesTold).hasValue(0);
        assertThat(store.renewals()).hasSizeGreaterThan(10);
    }

    /** Sharing the requests of other leases would use the retries up early. */
    @Test
    void lastRetryIsNotSentEarlyWithOthers() {
        queue.answer(Result.FAILED, Result.FAILED, Result.FAILED);
        start("failing");
        tickFor(Duration.ofSeconds(9));
        start("other");
        tickFor(Duration.ofSeconds(15));
        assertThat(queue.requests()).hasSize(RETRIES + 1);
        assertThat(queue.requests().get(RETRIES))
                .extracting(Change::receiptHandle)
                .containsExactly("other");

        tickFor(Duration.ofMillis(700));
        assertThat(queue.requests().get(RETRIES + 1))
                .extracting(Change::receiptHandle)
                .containsExactly("failing");
    }

    @Test
    void renewalThatSucceedsAtARetryStartsAfresh() {
        start("handle");
        queue.answer(Result.FAILED, Result.FAILED, Result.FAILED);
        tickFor(Duration.ofSeconds(25));
        assertThat(windowEvents()).hasSize(4).last().isEqualTo(RenewalObserver.Result.SUCCEEDED);

        queue.answer(Result.FAILED, Result.FAILED, Result.FAILED);
        tickFor(Duration.ofSeconds(25));
        assertThat(windowEvents()).hasSize(8).last().isEqualTo(RenewalObserver.Result.SUCCEEDED);
    }

    @Test
    void refusedWindowIsLostAtOnce() {
        start("handle");
        queue.answer(Result.REFUSED);

        tickFor(Duration.ofMinutes(2));

        assertThat(queue.requests()).hasSize(1);
        assertThat(windowEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    @Test
    void lostLeaseIsToldOnce() {
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());
        store.onRenew(requested -> Set.of());

        tickFor(Duration.ofMinutes(2));

        assertThat(timesTold).hasValue(1);
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.LOST);
        assertThat(store.renewals()).hasSize(1);
        assertThat(renewal.isHeld()).isFalse();
    }

    @Test
    void lostLeaseWithoutAMessageIsToldToItsHolderAndToNoListener() {
        ClaimId claim = new ClaimId(new ClaimKey("orders", "A-1"), UUID.randomUUID());
        RenewedLease lease =
                supervisor.hold(claim, Duration.ofSeconds(20), clock.nanoTime(), timesTold::incrementAndGet);
        assertThat(lease.isHeld()).isTrue();
        store.onRenew(requested -> Set.of());

        tickFor(Duration.ofSeconds(20));

        assertThat(lease.isHeld()).isFalse();
        assertThat(timesTold).hasValue(1);
        assertThat(events).isEmpty();
    }

    @Test
    void lostLeaseOfOneClaimLeavesTheOthers() {
        Renewal lost = start("one");
        ClaimId taken = hold(lost, clock.nanoTime());
        Renewal kept = start("two");
        ClaimId ours = hold(kept, clock.nanoTime());
        store.onRenew(requested -> Set.of(ours));

        tickFor(Duration.ofSeconds(10));

        assertThat(taken).isNotEqualTo(ours);
        assertThat(lost.isHeld()).isFalse();
        assertThat(kept.isHeld()).isTrue();
        assertThat(timesTold).hasValue(1);
    }

    @Test
    void leaseWhoseRowIsLockedIsTriedAgainAloneWhileTheOthersAreRenewed() {
        Renewal zombie = start("one");
        ClaimId locked = hold(zombie, clock.nanoTime());
        Renewal live = start("two");
        ClaimId renewed = hold(live, clock.nanoTime());
        store.onRenew(requested -> {
            throw new ClaimsPartlyAnsweredException("locked", Set.of(locked), Set.of(renewed), null);
        });

        tickFor(Duration.ofSeconds(19));

        assertThat(leaseEvents())
                .containsExactlyInAnyOrder(
                        RenewalObserver.Result.FAILED,
                        RenewalObserver.Result.SUCCEEDED,
                        RenewalObserver.Result.SUCCEEDED);
        assertThat(store.renewals().get(1)).extracting(LeaseRenewal::claim).containsExactly(locked);
        assertThat(timesTold).hasValue(0);
    }

    @Test
    void leaseThatGotNoAnswerIsTriedAgainAloneWhileTheOthersAreRenewedOrLost() {
        ClaimId unanswered = hold(start("one"), clock.nanoTime());
        ClaimId renewed = hold(start("two"), clock.nanoTime());
        hold(start("three"), clock.nanoTime());
        store.onRenew(requested -> {
            throw new ClaimsPartlyAnsweredException("too late", Set.of(unanswered), Set.of(renewed), null);
        });

        tickFor(Duration.ofSeconds(19));

        assertThat(leaseEvents())
                .containsExactlyInAnyOrder(
                        RenewalObserver.Result.FAILED,
                        RenewalObserver.Result.SUCCEEDED,
                        RenewalObserver.Result.LOST,
                        RenewalObserver.Result.SUCCEEDED);
        assertThat(store.renewals().get(1)).extracting(LeaseRenewal::claim).containsExactly(unanswered);
        assertThat(timesTold).hasValue(1);
    }

    @Test
    void storeThatThrowsIsAskedAgainBeforeTheLeaseIsToldLost() {
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());
        for (int attempt = 0; attempt <= RETRIES; attempt++) {
            store.onRenew(requested -> {
                throw new IllegalStateException("connection refused");
            });
        }

        tickFor(Duration.ofSeconds(20));

        assertThat(leaseEvents())
                .containsExactly(
                        RenewalObserver.Result.FAILED,
                        RenewalObserver.Result.FAILED,
                        RenewalObserver.Result.FAILED,
                        RenewalObserver.Result.LOST);
        assertThat(timesTold).hasValue(1);
        assertThat(store.renewals()).hasSize(1 + RETRIES);
    }

    @Test
    void storeThatRecoversAtARetryKeepsTheLease() {
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());
        store.onRenew(requested -> {
            throw new IllegalStateException("connection refused");
        });

        tickFor(Duration.ofSeconds(25));

        assertThat(renewal.isHeld()).isTrue();
        assertThat(leaseEvents())
                .startsWith(RenewalObserver.Result.FAILED, RenewalObserver.Result.SUCCEEDED)
                .doesNotContain(RenewalObserver.Result.LOST);
    }

    @Test
    void leaseWithoutAnAnswerIsToldLostWhenItEndsAndIsNotResurrected() {
        leaseExecutor = submitted::add;
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());

        tickFor(Duration.ofMillis(19_900));
        assertThat(timesTold).hasValue(0);
        assertThat(renewal.isHeld()).isTrue();

        tickFor(Duration.ofMillis(100));
        assertThat(timesTold).hasValue(1);
        assertThat(renewal.isHeld()).isFalse();

        runSubmitted();
        tickFor(Duration.ofSeconds(1));
        assertThat(store.renewals()).hasSize(1);
        assertThat(renewal.isHeld()).isFalse();
        assertThat(timesTold).hasValue(1);
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    @Test
    void failureThatComesAfterTheLeaseWasToldLostChangesNothing() {
        leaseExecutor = submitted::add;
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());
        store.onRenew(requested -> {
            throw new IllegalStateException("no database");
        });
        tickFor(Duration.ofSeconds(20));
        assertThat(timesTold).hasValue(1);

        runSubmitted();
        tickFor(Duration.ofSeconds(1));

        assertThat(store.renewals()).hasSize(1);
        assertThat(renewal.isHeld()).isFalse();
        assertThat(timesTold).hasValue(1);
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    /** To ask once more would leave its handler at work without a claim until the store answers. */
    @Test
    void leaseWhoseRenewalIsFailingIsToldLostRightAfterAPauseBeyondItsEnd() {
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());
        store.onRenew(requested -> {
            throw new IllegalStateException("no database");
        });
        tickFor(Duration.ofSeconds(10));
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.FAILED);

        clock.advance(Duration.ofSeconds(11));
        supervisor.tick();

        assertThat(timesTold).hasValue(1);
        assertThat(store.renewals()).hasSize(1);
    }

    /** A handler that ignores its timeout would hold its key for ever beside others. */
    @Test
    void whatIsLeftToItsEndIsNotRenewedTogetherWithOthersEither() {
        Renewal timedOut = start("timed out");
        hold(timedOut, clock.nanoTime());
        Renewal other = start("other");
        ClaimId renewed = hold(other, clock.nanoTime());
        timedOut.limit(Duration.ofSeconds(5), () -> {});

        tickFor(Duration.ofSeconds(16));

        assertThat(store.renewals())
                .hasSize(1)
                .allSatisfy(
                        call -> assertThat(call).extracting(LeaseRenewal::claim).containsExactly(renewed));
        assertThat(queue.changes()).extracting(Change::receiptHandle).containsExactly("other");
    }

    @Test
    void executorThatRejectsCountsAsAFailedAttempt() {
        leaseExecutor = task -> {
            throw new RejectedExecutionException("stopping");
        };
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());

        tickFor(Duration.ofSeconds(20));

        assertThat(leaseEvents()).hasSize(1 + RETRIES).last().isEqualTo(RenewalObserver.Result.LOST);
        assertThat(timesTold).hasValue(1);
    }

    private List<Renewal> holdThree(RenewalSupervisor renewing, Subscription subscription) {
        List<Renewal> renewals = new ArrayList<>();
        for (String handle : List.of("one", "two", "three")) {
            Renewal renewal = renewing.start(subscription, handle, clock.nanoTime());
            ClaimId claim = new ClaimId(new ClaimKey("orders", handle), UUID.randomUUID());
            renewal.hold(claim, Duration.ofSeconds(20), clock.nanoTime(), timesTold::incrementAndGet);
            renewals.add(renewal);
        }
        return renewals;
    }

    private static void throwIfAny(List<Error> errors) {
        if (!errors.isEmpty()) {
            throw errors.remove(0);
        }
    }

    @Test
    void pauseBeyondTheLeaseRevivesItIfNoWorkerTookTheKeyOver() {
        leaseExecutor = submitted::add;
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());

        clock.advance(Duration.ofSeconds(25));
        assertThat(renewal.isHeld()).isFalse();
        supervisor.tick();
        runSubmitted();

        assertThat(renewal.isHeld()).isTrue();
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.SUCCEEDED);
        assertThat(timesTold).hasValue(0);
    }

    @Test
    void pauseBeyondTheLeaseLosesItIfTheStoreDoesNotAnswer() {
        leaseExecutor = submitted::add;
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());

        clock.advance(Duration.ofSeconds(25));
        supervisor.tick();
        clock.advance(RenewalState.LATE_ANSWER.minus(RenewalSupervisor.TICK));
        supervisor.tick();
        assertThat(timesTold).hasValue(0);
        clock.advance(RenewalSupervisor.TICK);
        supervisor.tick();

        assertThat(timesTold).hasValue(1);
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    @Test
    void claimThatIsNotHeldAnyMoreWhileItIsCompletedIsNoLoss() {
        leaseExecutor = submitted::add;
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());
        store.onRenew(requested -> Set.of());
        tickFor(Duration.ofSeconds(10));

        renewal.completing();
        runSubmitted();
        tickFor(Duration.ofMinutes(1));

        assertThat(store.renewals()).hasSize(1);
        assertThat(timesTold).hasValue(0);
        assertThat(leaseEvents()).isEmpty();
    }

    @Test
    void leaseIsRenewedOnWhileItsClaimIsCompleted() {
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());

        renewal.completing();
        tickFor(Duration.ofSeconds(31));

        assertThat(store.renewals()).hasSize(3);
        assertThat(renewal.isHeld()).isTrue();
    }

    @Test
    void windowThatIsRefusedWhileItsMessageIsDeletedIsNoLoss() {
        Renewal renewal = start("handle");
        queue.answer(Result.REFUSED);

        renewal.deleting();
        tickFor(Duration.ofMinutes(1));

        assertThat(queue.requests()).hasSize(1);
        assertThat(windowEvents()).isEmpty();
    }

    /** Trap: an extension that is answered after the delete. */
    @Test
    void deleteWaitsForARenewalUnderWayAndForNoOther() {
        Renewal renewal = start("handle");
        LateAnswer late = queue.answerLater();
        tickFor(Duration.ofSeconds(15));

        CompletableFuture<Void> deletable = renewal.deleting();
        assertThat(deletable).isNotDone();

        late.give(Result.CHANGED);
        assertThat(deletable).isCompleted();
        tickFor(Duration.ofSeconds(15));
        assertThat(queue.requests()).hasSize(2);
    }

    @Test
    void pauseBeyondTheWindowNeverRenewsOrReturnsIt() {
        Renewal renewal = start("handle");

        clock.advance(LENGTH);
        supervisor.tick();
        CompletableFuture<Void> returned = renewal.returnAfter(Duration.ZERO);

        assertThat(returned).isCompleted();
        assertThat(queue.requests()).isEmpty();
        assertThat(windowEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    @Test
    void returnMakesTheMessageVisibleAfterWholeSecondsAndStopsRenewals() {
        Renewal renewal = start("handle");
        hold(renewal, clock.nanoTime());

        assertThat(renewal.returnAfter(Duration.ofMillis(2_001))).isCompleted();
        tickFor(Duration.ofMinutes(1));

        assertThat(queue.changes()).containsExactly(new Change("handle", 3));
        assertThat(store.renewals()).isEmpty();
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void messageThatCannotBeReturnedIsLeftToTheEndOfItsWindow() {
        Renewal renewal = start("handle");
        queue.answer(Result.FAILED);

        assertThat(renewal.returnAfter(Duration.ZERO)).isCompleted();
        tickFor(Duration.ofMinutes(1));

        assertThat(queue.changes()).containsExactly(new Change("handle", 0));
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void returnWaitsForARenewalUnderWay() {
        Renewal renewal = start("handle");
        LateAnswer late = queue.answerLater();
        tickFor(Duration.ofSeconds(15));

        CompletableFuture<Void> returned = renewal.returnAfter(Duration.ZERO);
        assertThat(returned).isNotCompleted();
        assertThat(queue.requests()).hasSize(1);

        late.give(Result.CHANGED);
        assertThat(returned).isCompleted();
        assertThat(queue.changes()).containsExactly(new Change("handle", 30), new Change("handle", 0));
    }

    @Test
    void returnDoesNothingPastTheDeadline() {
        Renewal renewal = start("handle");
        clock.advance(LENGTH);

        assertThat(renewal.returnAfter(Duration.ZERO)).isCompleted();
        assertThat(queue.requests()).isEmpty();
    }

    @Test
    void returnDoesNothingIfTheDeadlinePassesWhileItWaits() {
        Renewal renewal = start("handle");
        LateAnswer late = queue.answerLater();
        tickFor(Duration.ofSeconds(15));
        CompletableFuture<Void> returned = renewal.returnAfter(Duration.ZERO);

        clock.advance(Duration.ofSeconds(15));
        late.give(Result.FAILED);

        assertThat(returned).isCompleted();
        assertThat(queue.requests()).hasSize(1);
    }

    @Test
    void returnDoesNothingAfterTheWindowWasLost() {
        Renewal renewal = start("handle");
        queue.answer(Result.REFUSED);
        tickFor(Duration.ofSeconds(15));

        assertThat(renewal.returnAfter(Duration.ZERO)).isCompleted();
        assertThat(queue.requests()).hasSize(1);
    }

    @Test
    void windowIsNeverExtendedBeyondTwelveHoursFromTheReceive() {
        Subscription slow = new Subscription("listener", "slow", VisibilityWindow.ofSeconds(10_800), queue);
        random = 0.5;
        RenewalSupervisor jittery = supervisor(0.2);
        long receivedAt = clock.nanoTime();
        Renewal renewal = jittery.start(slow, "handle", receivedAt);
        for (long second = 1; second < 43_200; second++) {
            clock.advance(Duration.ofSeconds(1));
            int before = queue.requests().size();
            jittery.tick();
            if (queue.requests().size() > before) {
                assertThat(second + queue.changes().get(before).seconds()).isLessThanOrEqualTo(43_200);
            }
        }
        assertThat(windowEvents()).isNotEmpty().containsOnly(RenewalObserver.Result.SUCCEEDED);
        int requests = queue.requests().size();

        clock.advance(Duration.ofSeconds(1));
        jittery.tick();
        assertThat(windowEvents()).last().isEqualTo(RenewalObserver.Result.LOST);
        assertThat(renewal.returnAfter(Duration.ZERO)).isCompleted();
        assertThat(queue.requests()).hasSize(requests);
    }

    /** Less than a second would be none, and show the message. */
    @Test
    void windowWithLessThanASecondToItsCeilingIsLostRatherThanShown() {
        Subscription slow = new Subscription("listener", "slow", VisibilityWindow.ofSeconds(43_200), queue);
        supervisor.start(slow, "handle", clock.nanoTime());
        clock.advance(Duration.ofMillis(43_199_500));

        supervisor.tick();

        assertThat(queue.requests()).isEmpty();
        assertThat(windowEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    @Test
    void windowWhoseRenewalStaysUnansweredIsToldLostWhenItEnds() {
        start("handle");
        queue.answerLater();

        tickFor(LENGTH.plus(RenewalSupervisor.TICK));

        assertThat(queue.requests()).hasSize(1);
        assertThat(windowEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    /** Trap: a handler that hangs would hold its key for ever. */
    @Test
    void leaseIsLostTwelveHoursAfterTheReceive() {
        Subscription slow = new Subscription("listener", "slow", VisibilityWindow.ofSeconds(43_200), queue);
        Renewal renewal = supervisor.start(slow, "handle", clock.nanoTime());
        hold(renewal, clock.nanoTime());

        for (long seconds = 1; seconds < 43_200; seconds++) {
            clock.advance(Duration.ofSeconds(1));
            supervisor.tick();
        }
        assertThat(timesTold).hasValue(0);
        clock.advance(Duration.ofSeconds(1));
        supervisor.tick();

        assertThat(timesTold).hasValue(1);
        assertThat(renewal.isHeld()).isFalse();
    }

    /** The queue ends a capped window when it said, however long the listener's windows are. */
    @Test
    void returnAsksForNoMoreThanTwelveHoursFromTheReceive() {
        Subscription slow = new Subscription("listener", "slow", VisibilityWindow.ofSeconds(43_200), queue);
        Renewal renewal = supervisor.start(slow, "handle", clock.nanoTime());
        clock.advance(Duration.ofHours(5));

        renewal.returnAfter(Duration.ofHours(12));

        assertThat(queue.changes())
                .containsExactly(new Change("handle", (int) Duration.ofHours(7).toSeconds()));
    }

    @Test
    void returnDoesNothingPastTwelveHoursFromTheReceive() {
        Subscription slow = new Subscription("listener", "slow", VisibilityWindow.ofSeconds(36_000), queue);
        Renewal renewal = supervisor.start(slow, "handle", clock.nanoTime());
        clock.advance(Duration.ofHours(5));
        supervisor.tick();
        assertThat(queue.changes()).extracting(Change::seconds).containsExactly(25_200);

        clock.advance(Duration.ofHours(7));

        assertThat(renewal.returnAfter(Duration.ZERO)).isCompleted();
        assertThat(queue.requests()).hasSize(1);
    }

    /** A look that fails in its middle has not renewed what comes after: the next tick looks again. */
    /** The store's thread has crashed: the renewal counts as one without an answer. */
    @Test
    void crashOfARenewalCostsThisOneOnly() {
        Renewal renewal = start("handle");
        ClaimId claim = hold(renewal, clock.nanoTime());
        store.onRenew(requested -> {
            throw new OutOfMemoryError("simulated");
        });

        tickFor(Duration.ofSeconds(15));

        assertThat(store.renewals()).hasSize(2);
        assertThat(events)
                .containsSubsequence(
                        new Event(Target.LEASE, RenewalObserver.Result.FAILED),
                        new Event(Target.LEASE, RenewalObserver.Result.SUCCEEDED));
        assertThat(renewal.isHeld()).isTrue();
        assertThat(claim.key().key()).isNotBlank();
    }

    @Test
    void tickThatFailsLeavesWhatIsDueToTheNext() {
        leaseExecutor = submitted::add;
        Runnable throwing = () -> {
            throw new IllegalStateException("interrupting failed");
        };
        supervisor.hold(
                new ClaimId(new ClaimKey("orders", "A-2"), UUID.randomUUID()), LENGTH, clock.nanoTime(), throwing);
        tickFor(LENGTH.dividedBy(2));
        start("handle");
        tickFor(LENGTH.dividedBy(2).minus(RenewalSupervisor.TICK));

        assertThatIllegalStateException().isThrownBy(() -> tickFor(RenewalSupervisor.TICK));
        assertThat(queue.requests()).isEmpty();

        tickFor(RenewalSupervisor.TICK);
        assertThat(queue.changes()).extracting(Change::receiptHandle).containsExactly("handle");
    }

    /** A look was planned for later; the handler brings it forward between two ticks. */
    @Test
    void whatBecomesDueEarlierThanPlannedIsSeenByTheNextTick() {
        Renewal renewal = start("handle");
        tickFor(Duration.ofMillis(300));
        renewal.choose(Duration.ofMillis(400), () -> CompletableFuture.completedFuture(null));

        tickFor(Duration.ofMillis(100));
        assertThat(queue.requests()).isEmpty();
        tickFor(Duration.ofMillis(100));
        assertThat(queue.requests()).hasSize(1);
    }

    @Test
    void requestThatFailsDoesNotDisturbOtherQueues() {
        ScriptedQueue other = new ScriptedQueue();
        start("handle");
        supervisor.start(subscription("other", other), "other handle", clock.nanoTime());
        queue.failOnce(new IllegalStateException("throttled"));

        tickFor(Duration.ofMillis(15_100));

        assertThat(other.requests()).hasSize(1);
        assertThat(queue.requests()).hasSize(2);
        assertThat(windowEvents())
                .containsExactlyInAnyOrder(
                        RenewalObserver.Result.FAILED,
                        RenewalObserver.Result.SUCCEEDED,
                        RenewalObserver.Result.SUCCEEDED);
    }

    private static Subscription subscription(String name, QueueVisibility visibility) {
        return new Subscription("listener", name, new VisibilityWindow(LENGTH), visibility);
    }

    private Renewal start(String receiptHandle) {
        return supervisor.start(orders, receiptHandle, clock.nanoTime());
    }

    private ClaimId hold(Renewal renewal, long begun) {
        ClaimId claim = new ClaimId(new ClaimKey("orders", "A-1"), UUID.randomUUID());
        renewal.hold(claim, Duration.ofSeconds(20), begun, timesTold::incrementAndGet);
        return claim;
    }

    private void tickFor(Duration duration) {
        for (long tick = duration.dividedBy(RenewalSupervisor.TICK); tick > 0; tick--) {
            clock.advance(RenewalSupervisor.TICK);
            supervisor.tick();
        }
    }

    private void runSubmitted() {
        while (!submitted.isEmpty()) {
            submitted.remove().run();
        }
    }

    private List<RenewalObserver.Result> windowEvents() {
        return results(Target.WINDOW);
    }

    private List<RenewalObserver.Result> leaseEvents() {
        return results(Target.LEASE);
    }

    private List<RenewalObserver.Result> results(Target target) {
        return events.stream()
                .filter(event -> event.target() == target)
                .map(Event::result)
                .toList();
    }
}
