package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.renewal.RenewalObserver.Target;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.PollGate;
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
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(OutputCaptureExtension.class)
class RenewerTests {

    private static final Duration LENGTH = Duration.ofSeconds(30);

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

    private Renewer renewer(double jitter) {
        RenewalObserver observer = new RenewalObserver() {
            @Override
            public void renewed(Subscription subscription, Target target, RenewalObserver.Result result) {
                events.add(new Event(target, result));
            }
        };
        return new Renewer(
                store,
                new RenewalSchedule(0.5, jitter),
                observer,
                task -> leaseExecutor.execute(task),
                clock,
                () -> random);
    }

    private final Renewer renewer = renewer(0);

    @Test
    void windowIsRenewedAtHalfCountedFromTheReceive() {
        long receivedAt = clock.nanoTime();
        clock.advance(Duration.ofSeconds(4));
        renewer.start(orders, "handle", receivedAt);

        tickFor(Duration.ofMillis(10_900));
        assertThat(queue.requests()).isEmpty();

        tickFor(Duration.ofMillis(100));
        assertThat(queue.changes()).containsExactly(new Change("handle", 30));
        assertThat(events).containsExactly(new Event(Target.WINDOW, RenewalObserver.Result.SUCCEEDED));
    }

    @Test
    void leaseIsRenewedAtHalfCountedFromBeforeItWasAskedFor() {
        Window window = start("handle");
        long begun = clock.nanoTime();
        clock.advance(Duration.ofSeconds(2));
        ClaimId claim = hold(window, begun);

        tickFor(Duration.ofMillis(7_900));
        assertThat(store.renewals()).isEmpty();

        tickFor(Duration.ofMillis(100));
        assertThat(store.renewals()).containsExactly(List.of(new LeaseRenewal(claim, Duration.ofSeconds(20))));
        assertThat(events).contains(new Event(Target.LEASE, RenewalObserver.Result.SUCCEEDED));
    }

    @Test
    void everyRenewalHasTheSameLead() {
        random = 0.5;
        Renewer jittery = renewer(0.2);
        jittery.start(orders, "handle", clock.nanoTime());
        random = 0.9;

        assertThat(millisOfRequests(jittery, Duration.ofMinutes(1)))
                .containsExactly(13_500L, 27_000L, 40_500L, 54_000L);
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
        Window window = start("handle");
        hold(window, clock.nanoTime());
        store.onRenew(requested -> {
            clock.advance(Duration.ofSeconds(5));
            return requested;
        });
        tickFor(Duration.ofSeconds(10));
        assertThat(store.renewals()).hasSize(1);

        clock.advance(Duration.ofMillis(14_999));
        assertThat(window.isHeld()).isTrue();

        clock.advance(Duration.ofMillis(1));
        assertThat(window.isHeld()).isFalse();
    }

    @Test
    void nearlyDueRenewalsShareARequest() {
        start("due");
        clock.advance(Duration.ofMillis(1_400));
        start("nearly due");
        clock.advance(Duration.ofMillis(200));
        start("not due");

        clock.advance(Duration.ofMillis(13_400));
        renewer.tick();

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
        Window window = start("handle");
        hold(window, clock.nanoTime());
        assertThat(renewer.inFlight()).isOne();

        window.stop();
        tickFor(Duration.ofMinutes(1));

        assertThat(queue.requests()).isEmpty();
        assertThat(store.renewals()).isEmpty();
        assertThat(events).isEmpty();
        assertThat(renewer.inFlight()).isZero();
        assertThat(window.isHeld()).isFalse();
    }

    @Test
    void answerAfterStopIsIgnored() {
        Window window = start("handle");
        LateAnswer late = queue.answerLater();
        leaseExecutor = submitted::add;
        hold(window, clock.nanoTime());
        tickFor(Duration.ofSeconds(15));
        assertThat(queue.requests()).hasSize(1);
        assertThat(submitted).hasSize(1);

        window.stop();
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
        Window window = start("handle");
        hold(window, clock.nanoTime());
        queue.answer(Collections.nCopies(20, Result.FAILED).toArray(Result[]::new));

        assertThat(millisOfRequests(renewer, Duration.ofMillis(28_900)))
                .containsExactly(15_000L, 20_000L, 23_400L, 25_600L, 27_100L, 28_100L, 28_800L);
        assertThat(windowEvents()).hasSize(7).containsOnly(RenewalObserver.Result.FAILED);
        assertThat(window.isInvisible()).isTrue();

        tickFor(Renewer.TICK);
        assertThat(windowEvents()).hasSize(8).last().isEqualTo(RenewalObserver.Result.LOST);
        assertThat(window.isInvisible()).isFalse();

        tickFor(Duration.ofMinutes(2));
        assertThat(queue.requests()).hasSize(7);
        assertThat(windowEvents()).hasSize(8);
        assertThat(window.isHeld()).isTrue();
        assertThat(timesTold).hasValue(0);
        assertThat(store.renewals()).hasSizeGreaterThan(10);
    }

    /** Sharing the requests of all others would make throttling worse. */
    @Test
    void failingRenewalIsNotSentEarlyWithOthers() {
        queue.answer(Result.FAILED, Result.FAILED, Result.FAILED);
        start("failing");
        tickFor(Duration.ofSeconds(10));
        start("other");
        tickFor(Duration.ofSeconds(15));
        assertThat(queue.requests()).hasSize(4);
        assertThat(queue.requests().get(3)).extracting(Change::receiptHandle).containsExactly("other");

        tickFor(Duration.ofMillis(600));
        assertThat(queue.requests()).hasSize(5);
        assertThat(queue.requests().get(4)).extracting(Change::receiptHandle).containsExactly("failing");
    }

    @Test
    void renewalThatSucceedsAtARetryStartsAfresh() {
        start("handle");
        queue.answer(Result.FAILED, Result.FAILED, Result.FAILED);
        tickFor(Duration.ofSeconds(26));
        assertThat(windowEvents()).hasSize(4).last().isEqualTo(RenewalObserver.Result.SUCCEEDED);

        queue.answer(Result.FAILED, Result.FAILED, Result.FAILED);
        tickFor(Duration.ofSeconds(26));
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
        Window window = start("handle");
        hold(window, clock.nanoTime());
        store.onRenew(requested -> Set.of());

        tickFor(Duration.ofMinutes(2));

        assertThat(timesTold).hasValue(1);
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.LOST);
        assertThat(store.renewals()).hasSize(1);
        assertThat(window.isHeld()).isFalse();
    }

    @Test
    void lostLeaseWithoutAMessageIsToldToItsHolderAndToNoListener() {
        ClaimId claim = new ClaimId(new ClaimKey("orders", "A-1"), UUID.randomUUID());
        Lease lease = renewer.hold(claim, Duration.ofSeconds(20), clock.nanoTime(), timesTold::incrementAndGet);
        assertThat(lease.isHeld()).isTrue();
        store.onRenew(requested -> Set.of());

        tickFor(Duration.ofSeconds(20));

        assertThat(lease.isHeld()).isFalse();
        assertThat(timesTold).hasValue(1);
        assertThat(events).isEmpty();
    }

    @Test
    void lostLeaseOfOneClaimLeavesTheOthers() {
        Window lost = start("one");
        ClaimId taken = hold(lost, clock.nanoTime());
        Window kept = start("two");
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
        Window zombie = start("one");
        ClaimId locked = hold(zombie, clock.nanoTime());
        Window live = start("two");
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
    void callOfLeasesThatFailsCostsTheOthersNoAnswer() {
        holdMoreThanACallHas();
        store.onRenew(requested -> requested);
        failRenewals(1);

        tickFor(Duration.ofSeconds(10));

        assertThat(store.renewals()).extracting(List::size).containsExactly(Renewer.CHUNK, 2);
        assertThat(leaseEvents())
                .filteredOn(RenewalObserver.Result.SUCCEEDED::equals)
                .hasSize(Renewer.CHUNK);
        assertThat(leaseEvents())
                .filteredOn(RenewalObserver.Result.FAILED::equals)
                .hasSize(2);
    }

    /** The store takes its time. Each lease counts from its own call, and is told as soon as that is answered. */
    @Test
    void callOfLeasesThatIsLateHoldsNoAnswerOfAnotherBack() {
        leaseExecutor = submitted::add;
        List<Window> windows = holdMoreThanACallHas();
        tickFor(Duration.ofSeconds(10));
        assertThat(submitted).hasSize(2);

        submitted.remove().run();
        assertThat(leaseEvents()).hasSize(Renewer.CHUNK).containsOnly(RenewalObserver.Result.SUCCEEDED);
        tickFor(Duration.ofSeconds(5));
        submitted.remove().run();

        clock.advance(Duration.ofMillis(19_999));
        assertThat(windows).filteredOn(Window::isHeld).hasSize(2);
        assertThat(timesTold).hasValue(0);
    }

    private List<Window> holdMoreThanACallHas() {
        List<Window> windows = new ArrayList<>();
        for (int lease = 0; lease < Renewer.CHUNK + 2; lease++) {
            Window window = start("handle " + lease);
            hold(window, clock.nanoTime());
            windows.add(window);
        }
        return windows;
    }

    /** An interrupted handler has the last moment to stop in. */
    @Test
    void storeThatThrowsIsAskedAgainBeforeTheLeaseIsToldLost() {
        Window window = start("handle");
        hold(window, clock.nanoTime());
        failRenewals(20);

        tickFor(Duration.ofMillis(18_900));
        assertThat(leaseEvents()).hasSize(6).containsOnly(RenewalObserver.Result.FAILED);
        assertThat(timesTold).hasValue(0);
        assertThat(window.isHeld()).isTrue();

        tickFor(Renewer.TICK);
        assertThat(leaseEvents()).hasSize(7).last().isEqualTo(RenewalObserver.Result.LOST);
        assertThat(timesTold).hasValue(1);
        assertThat(window.isHeld()).isFalse();

        tickFor(Duration.ofMinutes(1));
        assertThat(store.renewals()).hasSize(6);
        assertThat(timesTold).hasValue(1);
    }

    @Test
    void outageThatIsOverBeforeTheLastMomentCostsNothing() {
        Window window = start("handle");
        hold(window, clock.nanoTime());
        failRenewals(5);

        tickFor(Duration.ofMinutes(1));

        assertThat(leaseEvents())
                .startsWith(
                        Collections.nCopies(5, RenewalObserver.Result.FAILED).toArray(RenewalObserver.Result[]::new))
                .endsWith(RenewalObserver.Result.SUCCEEDED)
                .doesNotContain(RenewalObserver.Result.LOST);
        assertThat(window.isHeld()).isTrue();
        assertThat(timesTold).hasValue(0);
    }

    @Test
    void storeThatRecoversAtARetryKeepsTheLease() {
        Window window = start("handle");
        hold(window, clock.nanoTime());
        store.onRenew(requested -> {
            throw new IllegalStateException("connection refused");
        });

        tickFor(Duration.ofSeconds(25));

        assertThat(window.isHeld()).isTrue();
        assertThat(leaseEvents())
                .startsWith(RenewalObserver.Result.FAILED, RenewalObserver.Result.SUCCEEDED)
                .doesNotContain(RenewalObserver.Result.LOST);
    }

    @Test
    void leaseWithoutAnAnswerIsToldLostWhenItEndsAndIsNotResurrected() {
        leaseExecutor = submitted::add;
        Window window = start("handle");
        hold(window, clock.nanoTime());

        tickFor(Duration.ofMillis(19_900));
        assertThat(timesTold).hasValue(0);
        assertThat(window.isHeld()).isTrue();

        tickFor(Duration.ofMillis(100));
        assertThat(timesTold).hasValue(1);
        assertThat(window.isHeld()).isFalse();

        // The store answers again: it is not asked to keep the key from others any longer.
        runSubmitted();
        tickFor(Duration.ofSeconds(1));
        assertThat(store.renewals()).isEmpty();
        assertThat(window.isHeld()).isFalse();
        assertThat(timesTold).hasValue(1);
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    @Test
    void failureThatComesAfterTheLeaseWasToldLostChangesNothing() {
        Window window = start("handle");
        hold(window, clock.nanoTime());
        store.onRenew(requested -> {
            tickFor(Duration.ofSeconds(10));
            assertThat(timesTold).hasValue(1);
            throw new IllegalStateException("no database");
        });

        tickFor(Duration.ofSeconds(11));

        assertThat(store.renewals()).hasSize(1);
        assertThat(window.isHeld()).isFalse();
        assertThat(timesTold).hasValue(1);
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    /** To ask once more would leave its handler at work without a claim until the store answers. */
    @Test
    void leaseWhoseRenewalIsFailingIsToldLostRightAfterAPauseBeyondItsEnd() {
        Window window = start("handle");
        hold(window, clock.nanoTime());
        store.onRenew(requested -> {
            throw new IllegalStateException("no database");
        });
        tickFor(Duration.ofSeconds(10));
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.FAILED);

        clock.advance(Duration.ofSeconds(11));
        renewer.tick();

        assertThat(timesTold).hasValue(1);
        assertThat(store.renewals()).hasSize(1);
    }

    /** A handler that ignores its timeout would hold its key for ever beside others. */
    @Test
    void whatIsLeftToItsEndIsNotRenewedTogetherWithOthersEither() {
        Subscription limited = new Subscription(
                "listener", "limited", new VisibilityWindow(LENGTH), Duration.ofSeconds(5), queue, null, PollGate.OPEN);
        Window timedOut = renewer.start(limited, "timed out", clock.nanoTime());
        hold(timedOut, clock.nanoTime());
        Window other = start("other");
        ClaimId renewed = hold(other, clock.nanoTime());
        timedOut.limit(() -> {});

        tickFor(Duration.ofSeconds(16));

        assertThat(store.renewals())
                .hasSize(1)
                .allSatisfy(
                        call -> assertThat(call).extracting(LeaseRenewal::claim).containsExactly(renewed));
        assertThat(queue.changes()).extracting(Change::receiptHandle).containsExactly("other");
    }

    @Test
    void pauseBeyondTheLeaseRevivesItIfNoWorkerTookTheKeyOver() {
        leaseExecutor = submitted::add;
        Window window = start("handle");
        hold(window, clock.nanoTime());

        clock.advance(Duration.ofSeconds(25));
        assertThat(window.isHeld()).isFalse();
        renewer.tick();
        runSubmitted();

        assertThat(window.isHeld()).isTrue();
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.SUCCEEDED);
        assertThat(timesTold).hasValue(0);
    }

    @Test
    void pauseBeyondTheLeaseLosesItIfTheStoreDoesNotAnswer() {
        leaseExecutor = submitted::add;
        Window window = start("handle");
        hold(window, clock.nanoTime());

        clock.advance(Duration.ofSeconds(25));
        renewer.tick();
        clock.advance(Renewable.LATE_ANSWER.minus(Renewer.TICK));
        renewer.tick();
        assertThat(timesTold).hasValue(0);
        clock.advance(Renewer.TICK);
        renewer.tick();

        assertThat(timesTold).hasValue(1);
        assertThat(leaseEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    @Test
    void claimThatIsNotHeldAnyMoreWhileItIsCompletedIsNoLoss() {
        leaseExecutor = submitted::add;
        Window window = start("handle");
        hold(window, clock.nanoTime());
        store.onRenew(requested -> Set.of());
        tickFor(Duration.ofSeconds(10));

        window.completing();
        runSubmitted();
        tickFor(Duration.ofMinutes(1));

        assertThat(store.renewals()).hasSize(1);
        assertThat(timesTold).hasValue(0);
        assertThat(leaseEvents()).isEmpty();
    }

    @Test
    void leaseIsRenewedOnWhileItsClaimIsCompleted() {
        Window window = start("handle");
        hold(window, clock.nanoTime());

        window.completing();
        tickFor(Duration.ofSeconds(31));

        assertThat(store.renewals()).hasSize(3);
        assertThat(window.isHeld()).isTrue();
    }

    @Test
    void windowThatIsRefusedWhileItsMessageIsDeletedIsNoLoss() {
        Window window = start("handle");
        queue.answer(Result.REFUSED);

        window.deleting();
        tickFor(Duration.ofMinutes(1));

        assertThat(queue.requests()).hasSize(1);
        assertThat(windowEvents()).isEmpty();
    }

    /** Trap: an extension that is answered after the delete. */
    @Test
    void deleteWaitsForARenewalUnderWayAndForNoOther() {
        Window window = start("handle");
        LateAnswer late = queue.answerLater();
        tickFor(Duration.ofSeconds(15));

        CompletableFuture<Void> deletable = window.deleting();
        assertThat(deletable).isNotDone();

        late.give(Result.CHANGED);
        assertThat(deletable).isCompleted();
        tickFor(Duration.ofSeconds(15));
        assertThat(queue.requests()).hasSize(2);
        assertThat(windowEvents()).containsExactly(RenewalObserver.Result.SUCCEEDED, RenewalObserver.Result.SUCCEEDED);
    }

    @Test
    void pauseBeyondTheWindowNeverRenewsOrReturnsIt() {
        Window window = start("handle");

        clock.advance(LENGTH);
        renewer.tick();
        returnAfter(window, Duration.ZERO);

        assertThat(queue.requests()).isEmpty();
        assertThat(windowEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    @Test
    void returnMakesTheMessageVisibleAfterWholeSecondsAndStopsRenewals(CapturedOutput output) {
        Window window = start("handle");
        hold(window, clock.nanoTime());

        returnAfter(window, Duration.ofMillis(2_001));
        tickFor(Duration.ofMinutes(1));

        assertThat(queue.changes()).containsExactly(new Change("handle", 3));
        assertThat(store.renewals()).isEmpty();
        assertThat(renewer.inFlight()).isZero();
        assertThat(output).doesNotContain("Returning a message");
    }

    @Test
    void returnThatIsRefusedIsLoggedAndNotRepeated(CapturedOutput output) {
        Window window = start("handle");
        queue.answer(Result.REFUSED);

        returnAfter(window, Duration.ZERO);
        tickFor(Duration.ofMinutes(1));

        assertThat(queue.changes()).hasSize(1);
        assertThat(output).containsOnlyOnce("was answered with REFUSED; it will be visible when its window ends");
    }

    @Test
    void messageThatCannotBeReturnedIsLeftToTheEndOfItsWindow() {
        Window window = start("handle");
        queue.answer(Result.FAILED);

        returnAfter(window, Duration.ZERO);
        tickFor(Duration.ofMinutes(1));

        assertThat(queue.changes()).containsExactly(new Change("handle", 0));
        assertThat(renewer.inFlight()).isZero();
    }

    @Test
    void returnWaitsForARenewalUnderWay() {
        Window window = start("handle");
        LateAnswer late = queue.answerLater();
        tickFor(Duration.ofSeconds(15));

        returnAfter(window, Duration.ZERO);
        assertThat(queue.requests()).hasSize(1);

        late.give(Result.CHANGED);
        assertThat(queue.changes()).containsExactly(new Change("handle", 30), new Change("handle", 0));
    }

    @Test
    void returnDoesNothingPastTheDeadline() {
        Window window = start("handle");
        clock.advance(LENGTH);

        returnAfter(window, Duration.ZERO);
        assertThat(queue.requests()).isEmpty();
    }

    @Test
    void returnDoesNothingIfTheDeadlinePassesWhileItWaits() {
        Window window = start("handle");
        LateAnswer late = queue.answerLater();
        tickFor(Duration.ofSeconds(15));
        returnAfter(window, Duration.ZERO);

        clock.advance(Duration.ofSeconds(15));
        late.give(Result.FAILED);

        assertThat(queue.requests()).hasSize(1);
    }

    @Test
    void returnDoesNothingAfterTheWindowWasLost() {
        Window window = start("handle");
        queue.answer(Result.REFUSED);
        tickFor(Duration.ofSeconds(15));

        returnAfter(window, Duration.ZERO);
        assertThat(queue.requests()).hasSize(1);
    }

    @Test
    void windowIsNeverExtendedBeyondTwelveHoursFromTheReceive() {
        Subscription slow = new Subscription("listener", "slow", VisibilityWindow.ofSeconds(10_800), queue);
        random = 0.5;
        Renewer jittery = renewer(0.2);
        long receivedAt = clock.nanoTime();
        Window window = jittery.start(slow, "handle", receivedAt);
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
        returnAfter(window, Duration.ZERO);
        assertThat(queue.requests()).hasSize(requests);
    }

    /** Less than a second would be none, and show the message. */
    @Test
    void windowWithLessThanASecondToItsCeilingIsLostRatherThanShown() {
        Subscription slow = new Subscription("listener", "slow", VisibilityWindow.ofSeconds(43_200), queue);
        renewer.start(slow, "handle", clock.nanoTime());
        clock.advance(Duration.ofMillis(43_199_500));

        renewer.tick();

        assertThat(queue.requests()).isEmpty();
        assertThat(windowEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    @Test
    void windowWhoseRenewalStaysUnansweredIsToldLostWhenItEnds() {
        start("handle");
        queue.answerLater();

        tickFor(LENGTH.plus(Renewer.TICK));

        assertThat(queue.requests()).hasSize(1);
        assertThat(windowEvents()).containsExactly(RenewalObserver.Result.LOST);
    }

    /** Trap: a handler that hangs would hold its key for ever. */
    @Test
    void leaseIsLostTwelveHoursAfterTheReceive() {
        Subscription slow = new Subscription("listener", "slow", VisibilityWindow.ofSeconds(43_200), queue);
        Window window = renewer.start(slow, "handle", clock.nanoTime());
        hold(window, clock.nanoTime());

        for (long seconds = 1; seconds < 43_200; seconds++) {
            clock.advance(Duration.ofSeconds(1));
            renewer.tick();
        }
        assertThat(timesTold).hasValue(0);
        clock.advance(Duration.ofSeconds(1));
        renewer.tick();

        assertThat(timesTold).hasValue(1);
        assertThat(window.isHeld()).isFalse();
    }

    /** The queue ends a capped window when it said, however long the listener's windows are. */
    @Test
    void returnAsksForNoMoreThanTwelveHoursFromTheReceive() {
        Subscription slow = new Subscription("listener", "slow", VisibilityWindow.ofSeconds(43_200), queue);
        Window window = renewer.start(slow, "handle", clock.nanoTime());
        clock.advance(Duration.ofHours(5));

        returnAfter(window, Duration.ofHours(12));

        assertThat(queue.changes())
                .containsExactly(new Change("handle", (int) Duration.ofHours(7).toSeconds()));
    }

    @Test
    void returnDoesNothingPastTwelveHoursFromTheReceive() {
        Subscription slow = new Subscription("listener", "slow", VisibilityWindow.ofSeconds(36_000), queue);
        Window window = renewer.start(slow, "handle", clock.nanoTime());
        clock.advance(Duration.ofHours(5));
        renewer.tick();
        assertThat(queue.changes()).extracting(Change::seconds).containsExactly(25_200);

        clock.advance(Duration.ofHours(7));

        returnAfter(window, Duration.ZERO);
        assertThat(queue.requests()).hasSize(1);
    }

    /** The store's thread has crashed: the renewal counts as one without an answer. */
    @Test
    void crashOfARenewalCostsThisOneOnly() {
        Window window = start("handle");
        ClaimId claim = hold(window, clock.nanoTime());
        store.onRenew(requested -> {
            throw new OutOfMemoryError("simulated");
        });

        tickFor(Duration.ofSeconds(15));

        assertThat(store.renewals()).hasSize(2);
        assertThat(events)
                .containsSubsequence(
                        new Event(Target.LEASE, RenewalObserver.Result.FAILED),
                        new Event(Target.LEASE, RenewalObserver.Result.SUCCEEDED));
        assertThat(window.isHeld()).isTrue();
        assertThat(claim.key().key()).isNotBlank();
    }

    /** A look that fails in its middle has not renewed what comes after: the next tick looks again. */
    @Test
    void tickThatFailsLeavesWhatIsDueToTheNext() {
        leaseExecutor = submitted::add;
        Runnable throwing = () -> {
            throw new IllegalStateException("interrupting failed");
        };
        renewer.hold(new ClaimId(new ClaimKey("orders", "A-2"), UUID.randomUUID()), LENGTH, clock.nanoTime(), throwing);
        tickFor(LENGTH.dividedBy(2));
        start("handle");
        renewer.hold(new ClaimId(new ClaimKey("orders", "A-3"), UUID.randomUUID()), LENGTH, clock.nanoTime(), () -> {});
        tickFor(LENGTH.dividedBy(2).minus(Renewer.TICK));
        submitted.clear();

        assertThatIllegalStateException().isThrownBy(() -> tickFor(Renewer.TICK));
        assertThat(queue.changes()).extracting(Change::receiptHandle).containsExactly("handle");
        assertThat(submitted).isEmpty();

        tickFor(Renewer.TICK);
        assertThat(submitted).hasSize(1);
        assertThat(queue.requests()).hasSize(1);
    }

    /** A look was planned for later; the handler brings it forward between two ticks. */
    @Test
    void whatBecomesDueEarlierThanPlannedIsSeenByTheNextTick() {
        Window window = start("handle");
        tickFor(Duration.ofMillis(300));
        window.choose(Duration.ofMillis(400), () -> CompletableFuture.completedFuture(null));

        tickFor(Duration.ofMillis(100));
        assertThat(queue.requests()).isEmpty();
        tickFor(Duration.ofMillis(100));
        assertThat(queue.requests()).hasSize(1);
    }

    @Test
    void requestThatFailsDoesNotDisturbOtherQueues() {
        ScriptedQueue other = new ScriptedQueue();
        start("handle");
        renewer.start(subscription("other", other), "other handle", clock.nanoTime());
        queue.failOnce(new IllegalStateException("throttled"));

        tickFor(Duration.ofSeconds(20));

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

    private Window start(String receiptHandle) {
        return renewer.start(orders, receiptHandle, clock.nanoTime());
    }

    private static void returnAfter(Window window, Duration delay) {
        RenewalRig.returnAfter(window, delay);
    }

    private ClaimId hold(Window window, long begun) {
        ClaimId claim = new ClaimId(new ClaimKey("orders", "A-1"), UUID.randomUUID());
        window.hold(claim, Duration.ofSeconds(20), begun, timesTold::incrementAndGet);
        return claim;
    }

    private void failRenewals(int times) {
        for (int time = 0; time < times; time++) {
            store.onRenew(requested -> {
                throw new IllegalStateException("connection refused");
            });
        }
    }

    private void tickFor(Duration duration) {
        for (long tick = duration.dividedBy(Renewer.TICK); tick > 0; tick--) {
            clock.advance(Renewer.TICK);
            renewer.tick();
        }
    }

    /** Returns when requests were sent, in milliseconds from now. */
    private List<Long> millisOfRequests(Renewer renewing, Duration duration) {
        long begin = clock.nanoTime();
        List<Long> sentAt = new ArrayList<>();
        for (long tick = duration.dividedBy(Renewer.TICK); tick > 0; tick--) {
            clock.advance(Renewer.TICK);
            int before = queue.requests().size();
            renewing.tick();
            if (queue.requests().size() > before) {
                sentAt.add((clock.nanoTime() - begin) / 1_000_000);
            }
        }
        return sentAt;
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
