package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.queue.QueueVisibility;
import io.exactlyonce.queue.QueueVisibility.Change;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.ScriptedQueue.LateAnswer;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Renewals of visibility timeouts and leases. A visibility timeout of 30 s is renewed every 15 s, and a lease of 20 s
 * every 10 s.
 */
@ExtendWith(OutputCaptureExtension.class)
class RenewerTests {

    private static final int WINDOW = 30;
    private static final int LEASE = 20;

    private RenewalRig rig = RenewalRig.renewing();

    private MessageVisibility start(String handle) {
        return rig.start(handle, WINDOW);
    }

    private MessageVisibility start() {
        return start("handle");
    }

    /** Receives a message and claims its key. */
    private MessageVisibility hold() {
        return hold("handle");
    }

    private MessageVisibility hold(String handle) {
        MessageVisibility visibility = start(handle);
        rig.hold(visibility, LEASE);
        return visibility;
    }

    private List<MessageVisibility> holdMoreThanACallHas() {
        return IntStream.range(0, Renewer.CHUNK + 2)
                .mapToObj(number -> hold("handle " + number))
                .toList();
    }

    private List<Integer> extensions() {
        return rig.queue.changes().stream().map(Change::seconds).toList();
    }

    @Test
    void visibilityTimeoutIsRenewedAtHalfCountedFromTheReceive() {
        long receivedAt = rig.clock.nanoTime();
        rig.clock.advance(Duration.ofSeconds(4));
        rig.renewer.start(
                new Subscription("listener", "orders", VisibilityWindow.ofSeconds(WINDOW), rig.queue),
                VisibilityWindow.ofSeconds(WINDOW),
                "id",
                "handle",
                receivedAt);

        assertThat(rig.millisOfRequests(Duration.ofSeconds(12))).containsExactly(11_000L);

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 30));
        assertThat(rig.visibilityResults).containsExactly(Result.SUCCEEDED);
    }

    @Test
    void leaseIsRenewedAtHalfCountedFromBeforeItsRequest() {
        MessageVisibility visibility = start();
        long askedAt = rig.clock.nanoTime();
        rig.clock.advance(Duration.ofSeconds(2));
        ClaimId claim = new ClaimId(new ClaimKey("orders", "A-1"), UUID.randomUUID());
        visibility.renewLease(claim, Duration.ofSeconds(LEASE), askedAt, () -> {});

        rig.tickFor(Duration.ofMillis(7_900));
        assertThat(rig.store.renewals()).isEmpty();

        rig.tickFor(Duration.ofMillis(100));
        assertThat(rig.store.renewals()).containsExactly(List.of(new LeaseRenewal(claim, Duration.ofSeconds(LEASE))));
        assertThat(rig.leaseResults).containsExactly(Result.SUCCEEDED);
    }

    /**
     * Requests to queues may be slow: a new process may get little processor time, and an application may have many
     * queues.
     */
    @Test
    void leasesAndTimeoutsDoNotWaitForRequestsToQueues() {
        Map<String, Runnable> ticks = rig.begin();
        QueueVisibility slow = changes -> {
            rig.clock.advance(Duration.ofSeconds(3));
            ticks.get("thread-2").run();
            return CompletableFuture.completedFuture(
                    new QueueVisibility.Answers(Map.of("handle", QueueVisibility.Result.CHANGED)));
        };
        MessageVisibility visibility = rig.limiting(Duration.ofSeconds(6)).start(slow, "handle", 10);
        rig.clock.advance(Duration.ofSeconds(1));
        rig.limit(visibility);
        rig.hold(rig.limiting(null).start("other", WINDOW), 14);

        rig.clock.advance(Duration.ofSeconds(4));
        ticks.get("thread-1").run();

        assertThat(ticks).containsOnlyKeys("thread-1", "thread-2");
        assertThat(rig.store.renewals()).hasSize(1);
        assertThat(rig.timesTimedOut).hasValue(1);
    }

    /** The time since the last tick is that of the slower thread, because the health check must detect each thread. */
    @ParameterizedTest
    @ValueSource(strings = {"thread-1", "thread-2"})
    void eachThreadThatStallsIsSeen(String running) {
        Map<String, Runnable> ticks = rig.begin();

        rig.clock.advance(Duration.ofSeconds(3));
        ticks.get(running).run();
        assertThat(rig.renewer.sinceLastTick()).isEqualTo(Duration.ofSeconds(3));

        ticks.values().forEach(Runnable::run);
        assertThat(rig.renewer.sinceLastTick()).isZero();
    }

    @Test
    void bothThreadsEndWithTheirApplication() {
        Map<String, Runnable> ticks = rig.begin();
        assertThat(ticks).hasSize(2);

        rig.ticking.close();

        assertThat(ticks).isEmpty();
    }

    @Test
    void everyRenewalHasTheSameLead() {
        rig = new RenewalRig(new RenewalSchedule(0.5, 0.2));
        rig.random = () -> 0.5;
        start();
        rig.random = () -> 0.9;

        assertThat(rig.millisOfRequests(Duration.ofMinutes(1))).containsExactly(13_500L, 27_000L, 40_500L, 54_000L);
        assertThat(extensions()).containsOnly(30);
    }

    @Test
    void leadIsCountedFromTheAttemptAndNotFromItsAnswer() {
        start();
        LateAnswer late = rig.queue.answerLater();
        rig.tickFor(Duration.ofSeconds(20));
        late.give(QueueVisibility.Result.CHANGED);

        assertThat(rig.millisOfRequests(Duration.ofSeconds(20))).containsExactly(10_000L);
    }

    @Test
    void leaseCountsFromBeforeTheRequestToTheStore() {
        MessageVisibility visibility = hold();
        rig.store.onRenew(requested -> {
            rig.clock.advance(Duration.ofSeconds(5));
            return requested;
        });
        rig.tickFor(Duration.ofSeconds(10));
        assertThat(rig.store.renewals()).hasSize(1);

        rig.clock.advance(Duration.ofMillis(14_999));
        assertThat(visibility.isHeld()).isTrue();

        rig.clock.advance(Duration.ofMillis(1));
        assertThat(visibility.isHeld()).isFalse();
    }

    @Test
    void nearlyDueRenewalsShareARequest() {
        start("due");
        rig.clock.advance(Duration.ofMillis(1_400));
        start("nearly due");
        rig.clock.advance(Duration.ofMillis(200));
        start("not due");

        rig.advance(Duration.ofMillis(13_400));

        assertThat(rig.queue.requests()).hasSize(1);
        assertThat(rig.queue.changes())
                .extracting(Change::receiptHandle)
                .containsExactlyInAnyOrder("due", "nearly due");
    }

    @Test
    void answerAfterStopIsIgnored() {
        MessageVisibility visibility = hold();
        LateAnswer late = rig.queue.answerLater();
        rig.leasesWait();
        rig.tickFor(Duration.ofSeconds(15));

        visibility.stop();
        late.give(QueueVisibility.Result.REFUSED);
        rig.store.onRenew(requested -> Set.of());
        rig.renewLeases();
        rig.tickFor(Duration.ofMinutes(1));

        assertThat(rig.visibilityResults).isEmpty();
        assertThat(rig.leaseResults).isEmpty();
        assertThat(rig.timesLost).hasValue(0);
        assertThat(rig.queue.requests()).hasSize(1);
    }

    @Test
    void failedVisibilityTimeoutIsRetriedWithinTheHeadroomAndThenLostWhileTheLeaseContinues() {
        MessageVisibility visibility = hold();
        rig.queue.answer(Collections.nCopies(20, QueueVisibility.Result.FAILED).toArray(QueueVisibility.Result[]::new));

        assertThat(rig.millisOfRequests(Duration.ofMillis(28_900)))
                .containsExactly(15_000L, 20_000L, 23_400L, 25_600L, 27_100L, 28_100L, 28_800L);
        assertThat(rig.visibilityResults).hasSize(7).containsOnly(Result.FAILED);
        assertThat(visibility.isInvisible()).isTrue();

        rig.tickFor(Renewer.TICK);
        assertThat(rig.visibilityResults).hasSize(8).last().isEqualTo(Result.LOST);
        assertThat(visibility.isInvisible()).isFalse();

        rig.tickFor(Duration.ofMinutes(2));
        assertThat(rig.queue.requests()).hasSize(7);
        assertThat(rig.visibilityResults).hasSize(8);
        assertThat(visibility.isHeld()).isTrue();
        assertThat(rig.timesLost).hasValue(0);
        assertThat(rig.store.renewals()).hasSizeGreaterThan(10);
    }

    /** If every request for other messages repeated the failing renewal, throttling would become worse. */
    @Test
    void failingRenewalIsNotSentEarlyWithOthers() {
        failVisibilities(3);
        start("failing");
        rig.tickFor(Duration.ofSeconds(10));
        start("other");
        rig.tickFor(Duration.ofSeconds(15));
        assertThat(rig.queue.requests()).hasSize(4);
        assertThat(rig.queue.changes()).last().extracting(Change::receiptHandle).isEqualTo("other");

        rig.tickFor(Duration.ofMillis(600));
        assertThat(rig.queue.requests()).hasSize(5);
        assertThat(rig.queue.changes()).last().extracting(Change::receiptHandle).isEqualTo("failing");
    }

    private void failVisibilities(int times) {
        rig.queue.answer(
                Collections.nCopies(times, QueueVisibility.Result.FAILED).toArray(QueueVisibility.Result[]::new));
    }

    @Test
    void refusedVisibilityTimeoutIsLostAtOnceAndNeitherRenewedNorReturned(CapturedOutput output) {
        MessageVisibility visibility = start();
        rig.queue.answer(QueueVisibility.Result.REFUSED);

        rig.tickFor(Duration.ofSeconds(15));
        RenewalRig.returnAfter(visibility, Duration.ZERO);
        rig.tickFor(Duration.ofMinutes(2));

        assertThat(rig.queue.requests()).hasSize(1);
        assertThat(rig.visibilityResults).containsExactly(Result.LOST);
        assertThat(output)
                .containsOnlyOnce("The visibility timeout of message id of handle of listener 'listener' on queue"
                        + " 'orders' is lost");
    }

    @Test
    void leaseThatGotNoAnswerIsTriedAgainAloneWhileTheOthersAreRenewedOrLost() {
        ClaimId unanswered = rig.hold(start("one"), LEASE);
        ClaimId renewed = rig.hold(start("two"), LEASE);
        MessageVisibility lost = start("three");
        rig.hold(lost, LEASE);
        rig.store.onRenew(requested -> Set.of(renewed));
        rig.store.lock(unanswered);

        rig.tickFor(Duration.ofSeconds(19));

        assertThat(rig.leaseResults)
                .containsExactlyInAnyOrder(Result.FAILED, Result.SUCCEEDED, Result.LOST, Result.SUCCEEDED);
        assertThat(rig.store.renewals().get(1)).extracting(LeaseRenewal::claim).containsExactly(unanswered);
        assertThat(rig.timesLost).hasValue(1);
        assertThat(lost.isHeld()).isFalse();
    }

    /** A slow store would fall behind more and more if each due lease had its own call. */
    @Test
    void leasesThatBecomeDueWhileACallIsMadeShareTheNextOne() {
        rig.leasesWait();
        List<MessageVisibility> visibilities = new ArrayList<>();
        for (int second = 0; second < 5; second++) {
            visibilities.add(hold("handle " + second));
            rig.clock.advance(Duration.ofSeconds(2));
        }
        rig.tickFor(Duration.ofSeconds(8));
        visibilities.get(1).stop();

        rig.renewLeases();

        assertThat(rig.store.renewals()).extracting(List::size).containsExactly(4);
        assertThat(rig.leaseResults).hasSize(4).containsOnly(Result.SUCCEEDED);
    }

    @Test
    void callOfLeasesThatFailsCostsTheOthersNoAnswer() {
        holdMoreThanACallHas();
        rig.store.onRenew(requested -> requested);
        rig.store.loseRenewals(1);

        rig.tickFor(Duration.ofSeconds(10));

        assertThat(rig.store.renewals()).extracting(List::size).containsExactly(Renewer.CHUNK, 2);
        assertThat(rig.leaseResults).filteredOn(Result.SUCCEEDED::equals).hasSize(Renewer.CHUNK);
        assertThat(rig.leaseResults).filteredOn(Result.FAILED::equals).hasSize(2);
    }

    /**
     * The store is slow. Each lease counts from the call that renews it, and an answer extends the leases of its call
     * at once.
     */
    @Test
    void callOfLeasesThatIsLateHoldsNoAnswerOfAnotherBack() {
        rig.leasesWait();
        List<MessageVisibility> visibilities = holdMoreThanACallHas();
        rig.tickFor(Duration.ofSeconds(10));

        rig.renewLease();
        assertThat(rig.leaseResults).hasSize(Renewer.CHUNK).containsOnly(Result.SUCCEEDED);
        rig.tickFor(Duration.ofSeconds(5));
        rig.renewLease();

        rig.clock.advance(Duration.ofMillis(19_999));
        assertThat(visibilities).filteredOn(MessageVisibility::isHeld).hasSize(2);
        assertThat(rig.timesLost).hasValue(0);
    }

    /**
     * The loss is reported one second before the lease expires, because the handler needs time to stop after its
     * interrupt.
     */
    @Test
    void renewalThatThrowsIsRepeatedBeforeTheLeaseIsReportedLost() {
        MessageVisibility visibility = hold();
        rig.store.loseRenewals(20);

        rig.tickFor(Duration.ofMillis(18_900));
        assertThat(rig.leaseResults).hasSize(6).containsOnly(Result.FAILED);
        assertThat(rig.timesLost).hasValue(0);
        assertThat(visibility.isHeld()).isTrue();

        rig.tickFor(Renewer.TICK);
        assertThat(rig.leaseResults).hasSize(7).last().isEqualTo(Result.LOST);
        assertThat(rig.timesLost).hasValue(1);
        assertThat(visibility.isHeld()).isFalse();

        rig.tickFor(Duration.ofMinutes(1));
        assertThat(rig.store.renewals()).hasSize(6);
        assertThat(rig.timesLost).hasValue(1);
    }

    @Test
    void outageThatIsOverBeforeTheLastMomentCostsNothing() {
        MessageVisibility visibility = hold();
        rig.store.loseRenewals(5);

        rig.tickFor(Duration.ofMinutes(1));

        assertThat(rig.leaseResults.subList(0, 5)).containsOnly(Result.FAILED);
        assertThat(rig.leaseResults.subList(5, rig.leaseResults.size())).containsOnly(Result.SUCCEEDED);
        assertThat(visibility.isHeld()).isTrue();
        assertThat(rig.timesLost).hasValue(0);
    }

    @ParameterizedTest(name = "late answer {0}")
    @ValueSource(booleans = {true, false})
    void leaseWithoutAnAnswerIsReportedLostWhenItEndsAndIsNotResurrected(boolean isAnswered) {
        rig.leasesWait();
        MessageVisibility visibility = hold();
        rig.store.loseRenewals(isAnswered ? 0 : 1);

        rig.tickFor(Duration.ofMillis(19_900));
        assertThat(rig.timesLost).hasValue(0);
        assertThat(visibility.isHeld()).isTrue();

        rig.tickFor(Duration.ofMillis(100));
        assertThat(rig.timesLost).hasValue(1);
        assertThat(visibility.isHeld()).isFalse();

        rig.renewLeases();
        rig.tickFor(Duration.ofSeconds(1));
        assertThat(rig.store.renewals())
                .as("a store that answers again is not asked to keep the key from others any longer")
                .isEmpty();
        assertThat(visibility.isHeld()).isFalse();
        assertThat(rig.timesLost).hasValue(1);
        assertThat(rig.leaseResults).containsExactly(Result.LOST);
    }

    @Test
    void failureThatComesAfterTheLeaseWasReportedLostChangesNothing() {
        MessageVisibility visibility = hold();
        rig.store.onRenew(requested -> {
            rig.tickFor(Duration.ofSeconds(10));
            assertThat(rig.timesLost).hasValue(1);
            throw new IllegalStateException("no database");
        });

        rig.tickFor(Duration.ofSeconds(11));

        assertThat(rig.store.renewals()).hasSize(1);
        assertThat(visibility.isHeld()).isFalse();
        assertThat(rig.timesLost).hasValue(1);
        assertThat(rig.leaseResults).containsExactly(Result.LOST);
    }

    /** A further request would let the handler run without a valid lease until the store answers. */
    @Test
    void leaseWhoseRenewalIsFailingIsReportedLostRightAfterAPauseBeyondItsEnd() {
        hold();
        rig.store.loseRenewals(1);
        rig.tickFor(Duration.ofSeconds(10));
        assertThat(rig.leaseResults).containsExactly(Result.FAILED);

        rig.advance(Duration.ofSeconds(11));

        assertThat(rig.timesLost).hasValue(1);
        assertThat(rig.store.renewals()).hasSize(1);
    }

    /**
     * A handler that ignores its timeout would keep its key forever if calls for other leases renewed its lease too.
     */
    @Test
    void whatIsLeftToItsEndIsNotRenewedTogetherWithOthersEither() {
        rig.limiting(Duration.ofSeconds(5));
        MessageVisibility timedOut = hold();
        MessageVisibility other = start("other");
        ClaimId renewed = rig.hold(other, LEASE);
        rig.limit(timedOut);

        rig.tickFor(Duration.ofSeconds(16));

        assertThat(rig.store.renewals())
                .singleElement()
                .satisfies(
                        call -> assertThat(call).extracting(LeaseRenewal::claim).containsExactly(renewed));
        assertThat(rig.queue.changes()).extracting(Change::receiptHandle).containsExactly("other");
    }

    @Test
    void pauseBeyondTheLeaseRevivesItIfNoWorkerTookTheKeyOver() {
        rig.leasesWait();
        MessageVisibility visibility = hold();

        rig.clock.advance(Duration.ofSeconds(25));
        assertThat(visibility.isHeld()).isFalse();
        rig.renewer.tick();
        rig.renewLeases();

        assertThat(visibility.isHeld()).isTrue();
        assertThat(rig.leaseResults).containsExactly(Result.SUCCEEDED);
        assertThat(rig.timesLost).hasValue(0);
    }

    @Test
    void pauseBeyondTheLeaseLosesItIfTheStoreDoesNotAnswer() {
        rig.leasesWait();
        hold();

        rig.advance(Duration.ofSeconds(25));
        rig.advance(Renewable.LATE_ANSWER.minus(Renewer.TICK));
        assertThat(rig.timesLost).hasValue(0);
        rig.advance(Renewer.TICK);

        assertThat(rig.timesLost).hasValue(1);
        assertThat(rig.leaseResults).containsExactly(Result.LOST);
    }

    @Test
    void visibilityTimeoutThatIsRefusedWhileItsMessageIsDeletedIsNoLoss() {
        MessageVisibility visibility = start();
        rig.queue.answer(QueueVisibility.Result.REFUSED);

        visibility.deleting();
        rig.tickFor(Duration.ofMinutes(1));

        assertThat(rig.queue.requests()).hasSize(1);
        assertThat(rig.visibilityResults).isEmpty();
    }

    /** Trap: SQS may answer a visibility change after the delete of the same message. */
    @Test
    void deleteWaitsForARenewalInProgressAndForNoOther() {
        MessageVisibility visibility = start();
        LateAnswer late = rig.queue.answerLater();
        rig.tickFor(Duration.ofSeconds(15));

        CompletableFuture<Void> deletable = visibility.deleting();
        assertThat(deletable).isNotDone();

        late.give(QueueVisibility.Result.CHANGED);
        assertThat(deletable).isCompleted();
        rig.tickFor(Duration.ofSeconds(15));
        assertThat(rig.queue.requests()).hasSize(2);
        assertThat(rig.visibilityResults).containsExactly(Result.SUCCEEDED, Result.SUCCEEDED);
    }

    @Test
    void pauseBeyondTheVisibilityTimeoutNeverRenewsOrReturnsIt() {
        MessageVisibility visibility = start();

        rig.advance(Duration.ofSeconds(WINDOW));
        RenewalRig.returnAfter(visibility, Duration.ZERO);

        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.visibilityResults).containsExactly(Result.LOST);
    }

    @Test
    void returnMakesTheMessageVisibleAfterWholeSecondsAndStopsRenewals(CapturedOutput output) {
        MessageVisibility visibility = hold();

        RenewalRig.returnAfter(visibility, Duration.ofMillis(2_001));
        rig.tickFor(Duration.ofMinutes(1));

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 3));
        assertThat(rig.store.renewals()).isEmpty();
        assertThat(rig.renewer.renewedCount()).isZero();
        assertThat(output).doesNotContain("Returning a message");
    }

    @Test
    void messageThatCannotBeReturnedIsLeftToTheEndOfItsVisibilityTimeout(CapturedOutput output) {
        MessageVisibility visibility = start();
        rig.queue.answer(QueueVisibility.Result.FAILED);

        RenewalRig.returnAfter(visibility, Duration.ZERO);
        rig.tickFor(Duration.ofMinutes(1));

        assertThat(extensions()).containsExactly(0);
        assertThat(rig.renewer.renewedCount()).isZero();
        assertThat(output)
                .containsOnlyOnce(
                        "Returning message id of handle of listener 'listener' on queue 'orders' was answered with"
                                + " FAILED; it becomes visible when its visibility timeout ends");
    }

    /**
     * Trap: the log line promised a retry. Only renewals are retried, and this request returned messages to the queue.
     */
    @Test
    void returnWhoseRequestFailsIsLoggedWithItsListenerAndItsCauseAndNotRetried(CapturedOutput output) {
        MessageVisibility visibility = start();
        rig.queue.failOnce(new IllegalStateException("connection refused"));

        RenewalRig.returnAfter(visibility, Duration.ZERO);
        rig.tickFor(Duration.ofMinutes(1));

        assertThat(rig.queue.requests()).hasSize(1);
        assertThat(output)
                .containsOnlyOnce("Returning messages of listener 'listener' on queue 'orders' failed; they become")
                .contains("connection refused")
                .doesNotContain("retried");
    }

    @Test
    void renewalWhoseRequestFailsIsLoggedWithItsListenerAndItsCause(CapturedOutput output) {
        start();
        rig.queue.failOnce(new IllegalStateException("connection refused"));

        rig.tickFor(Duration.ofSeconds(29));

        assertThat(rig.visibilityResults).containsExactly(Result.FAILED, Result.SUCCEEDED);
        assertThat(output)
                .containsOnlyOnce(
                        "Renewing visibility timeouts of listener 'listener' on queue 'orders' failed; renewals"
                                + " are retried")
                .contains("connection refused");
    }

    @Test
    void returnWaitsForARenewalInProgress() {
        MessageVisibility visibility = start();
        LateAnswer late = rig.queue.answerLater();
        rig.tickFor(Duration.ofSeconds(15));

        RenewalRig.returnAfter(visibility, Duration.ZERO);
        assertThat(rig.queue.requests()).hasSize(1);

        late.give(QueueVisibility.Result.CHANGED);
        assertThat(extensions()).containsExactly(30, 0);
    }

    @Test
    void returnDoesNothingPastTheDeadline() {
        MessageVisibility visibility = start();
        rig.clock.advance(Duration.ofSeconds(WINDOW));

        RenewalRig.returnAfter(visibility, Duration.ZERO);

        assertThat(rig.queue.requests()).isEmpty();
    }

    @Test
    void returnDoesNothingIfTheDeadlinePassesWhileItWaits() {
        MessageVisibility visibility = start();
        LateAnswer late = rig.queue.answerLater();
        rig.tickFor(Duration.ofSeconds(15));
        RenewalRig.returnAfter(visibility, Duration.ZERO);

        rig.clock.advance(Duration.ofSeconds(15));
        late.give(QueueVisibility.Result.FAILED);

        assertThat(rig.queue.requests()).hasSize(1);
    }

    @Test
    void visibilityTimeoutIsNeverExtendedBeyondTwelveHoursFromTheReceive() {
        rig = new RenewalRig(new RenewalSchedule(0.5, 0.2));
        rig.random = () -> 0.5;
        MessageVisibility visibility = rig.start(10_800);
        for (long second = 1; second < 43_200; second++) {
            int before = rig.queue.requests().size();
            rig.advance(Duration.ofSeconds(1));
            if (rig.queue.requests().size() > before) {
                assertThat(second + extensions().get(before)).isLessThanOrEqualTo(43_200);
            }
        }
        assertThat(rig.visibilityResults).isNotEmpty().containsOnly(Result.SUCCEEDED);
        int requests = rig.queue.requests().size();

        rig.advance(Duration.ofSeconds(1));
        assertThat(rig.visibilityResults).last().isEqualTo(Result.LOST);
        RenewalRig.returnAfter(visibility, Duration.ZERO);
        assertThat(rig.queue.requests()).hasSize(requests);
    }

    /** SQS would round a timeout of less than a second to zero, and make the message visible. */
    @Test
    void visibilityTimeoutWithLessThanASecondToItsCeilingIsLostRatherThanShown() {
        rig.start(43_200);

        rig.advance(Duration.ofMillis(43_199_500));

        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.visibilityResults).containsExactly(Result.LOST);
    }

    /** Trap: a handler that hangs would keep its key forever. */
    @Test
    void leaseIsLostTwelveHoursAfterTheReceive() {
        MessageVisibility visibility = rig.start(43_200);
        rig.hold(visibility, LEASE);

        for (long seconds = 1; seconds < 43_200; seconds++) {
            rig.advance(Duration.ofSeconds(1));
        }
        assertThat(rig.timesLost).hasValue(0);
        rig.advance(Duration.ofSeconds(1));

        assertThat(rig.timesLost).hasValue(1);
        assertThat(visibility.isHeld()).isFalse();
    }

    @Test
    void leaseWhoseHalfComesAfterTheTwelveHoursIsLostThenToo() {
        MessageVisibility visibility = rig.start(43_200);
        rig.clock.advance(Duration.ofHours(7));
        rig.hold(visibility, 43_200);

        for (long seconds = 7 * 3_600 + 1; seconds < 43_200; seconds++) {
            rig.advance(Duration.ofSeconds(1));
        }
        assertThat(rig.timesLost).hasValue(0);
        rig.advance(Duration.ofSeconds(1));

        assertThat(rig.timesLost).hasValue(1);
    }

    /**
     * SQS hides a message for at most twelve hours after its receive, whatever the listener's visibility timeout is.
     */
    @Test
    void returnAsksForNoMoreThanTwelveHoursFromTheReceive() {
        MessageVisibility visibility = rig.start(43_200);
        rig.clock.advance(Duration.ofHours(5));

        RenewalRig.returnAfter(visibility, Duration.ofHours(12));

        assertThat(extensions()).containsExactly(7 * 3_600);
    }

    /** The store's thread crashes during a renewal. This renewal counts as unanswered, and the next one succeeds. */
    @Test
    void crashOfARenewalCostsThisOneOnly() {
        MessageVisibility visibility = hold();
        rig.store.onRenew(requested -> {
            throw new OutOfMemoryError("simulated");
        });

        rig.tickFor(Duration.ofSeconds(15));

        assertThat(rig.leaseResults).containsExactly(Result.FAILED, Result.SUCCEEDED);
        assertThat(visibility.isHeld()).isTrue();
    }

    /** The handler's change makes a renewal due between two ticks, and earlier than the next planned check. */
    @Test
    void whatBecomesDueEarlierThanPlannedIsSeenByTheNextTick() {
        MessageVisibility visibility = start();
        rig.tickFor(Duration.ofMillis(300));
        visibility.choose(Duration.ofMillis(400), () -> CompletableFuture.completedFuture(null));

        assertThat(rig.millisOfRequests(Duration.ofMillis(200))).containsExactly(200L);
    }

    @Test
    void requestThatFailsDoesNotDisturbOtherQueues() {
        ScriptedQueue other = new ScriptedQueue();
        start();
        rig.start(other, "other handle", WINDOW);
        rig.queue.failOnce(new IllegalStateException("throttled"));

        rig.tickFor(Duration.ofSeconds(20));

        assertThat(other.requests()).hasSize(1);
        assertThat(rig.queue.requests()).hasSize(2);
        assertThat(rig.visibilityResults).containsExactlyInAnyOrder(Result.FAILED, Result.SUCCEEDED, Result.SUCCEEDED);
    }
}
