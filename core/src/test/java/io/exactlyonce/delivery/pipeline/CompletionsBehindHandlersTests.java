package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.renewal.RenewalEvent;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The store records a handler's outcome after the handler's thread is free. The message is settled after that record.
 */
@ExtendWith(OutputCaptureExtension.class)
class CompletionsBehindHandlersTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();
    private final List<Runnable> asked = new ArrayList<>();

    /** Makes the store answer at once until the handler ends, and then only in {@link #answerAll}. */
    private void askLater() {
        rig.whenHandled = () -> rig.storeThreads = asked::add;
    }

    private void answerAll() {
        List<Runnable> due = List.copyOf(asked);
        asked.clear();
        due.forEach(Runnable::run);
    }

    /** Runs a handler that succeeds. The first {@code lost} requests to complete its claim get no answer. */
    private void handleUnrecorded(int lost) throws Throwable {
        rig.timer.hold();
        rig.store.loseCompletions(lost);
        assertThat(rig.process(delivery, claim -> "charged")).isEqualTo("charged");
    }

    @Test
    void handlersThreadDoesNotWaitAndNothingIsDeletedBeforeTheCompletionIsRecorded() throws Throwable {
        askLater();

        assertThat(rig.process(delivery, claim -> "charged")).isEqualTo("charged");
        assertThat(delivery.state()).isEqualTo(DeliveryState.HANDLED);
        assertThat(delivery.processed()).isNotDone();

        answerAll();

        assertThat(delivery.processed()).isDone();
        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
        assertThat(rig.settle(delivery)).isTrue();
    }

    @Test
    void failedHandlersMessageIsReturnedOnlyWhenItsKeyIsReleased() {
        askLater();

        rig.fail(delivery, new IOException("down"));
        assertThat(delivery.processed()).isNotDone();
        answerAll();

        assertThat(delivery.processed()).isDone();
        rig.assertReturned(delivery, 4);
    }

    @Test
    void completionWhoseReplyIsLostIsRepeatedWithoutAThreadUntilItIsAnswered() throws Throwable {
        handleUnrecorded(3);

        repeat(2);
        assertThat(delivery.processed()).isNotDone();
        repeat(1);

        assertThat(rig.store.completions())
                .hasSize(4)
                .containsOnly(new ClaimResolution.Completed(rig.claimed(), "\"charged\""));
        assertThat(rig.timer.delays())
                .hasSize(3)
                .allMatch(delay -> delay.toMillis() >= 50 && delay.toMillis() <= 2_100);
        assertThat(rig.settle(delivery)).isTrue();
    }

    @Test
    void visibilityTimeoutAndLeaseAreRenewedForAsLongAsTheCompletionIsUnanswered() throws Throwable {
        handleUnrecorded(1);

        rig.tickFor(Duration.ofMinutes(2));
        assertThat(rig.store.renewals()).hasSizeGreaterThan(5);
        assertThat(delivery.visibility().isInvisible()).isTrue();
        repeat(1);

        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
    }

    /**
     * The lease of a handler that has ended is not reported as lost, because a repeat can still record the completion.
     */
    @Test
    void leaseThatEndsWhileItsCompletionIsUnansweredIsNoLostClaim(CapturedOutput output) throws Throwable {
        handleUnrecorded(1);
        rig.store.loseRenewals(10);

        rig.tickFor(Duration.ofSeconds(40));
        assertThat(delivery.visibility().isHeld()).isFalse();
        repeat(1);

        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
        assertThat(rig.claimsLost).isEmpty();
        assertThat(rig.renewalsOfLeases).doesNotContain(RenewalEvent.Result.LOST);
        assertThat(output.getOut())
                .containsOnlyOnce("has expired before its completion was answered")
                .doesNotContain("its handler is interrupted");
    }

    @Test
    void completionThatIsUnansweredWhileItsListenerStopsIsGivenUpAndLeftToItsLease(CapturedOutput output)
            throws Throwable {
        handleUnrecorded(2);
        delivery.abandon();

        repeat(1);

        assertThat(delivery.processed()).isDone();
        assertThat(rig.store.completions()).hasSize(2);
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.lost).as("no other worker has taken the key over").isEmpty();
        assertThat(output).contains("could not be recorded before its listener stopped", "connection refused");
        rig.assertReturned(delivery);
    }

    @Test
    void completionThatIsAnsweredWhileItsListenerStopsIsDeleted() throws Throwable {
        askLater();
        rig.process(delivery, claim -> "charged");
        rig.deliveries().beginStop(rig.orders);
        answerAll();

        rig.deliveries().endStop(rig.orders);

        assertThat(rig.deleted).containsExactly(delivery);
    }

    /**
     * The failure is not repeated forever, because another consumer may already have received the message. If no answer
     * records the failure, the key is in doubt when the lease expires.
     */
    @ParameterizedTest(name = "parked {0}, listener stopped {1}")
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void failureIsTriedThreeTimesOnceItsMessageIsVisibleOrItsListenerHasStopped(
            boolean isParked, boolean isStopped, CapturedOutput output) {
        failUnrecorded(isParked);
        if (isStopped) {
            delivery.abandon();
        } else {
            rig.clock.advance(DeliveryRig.WINDOW);
        }

        repeat(4);

        assertThat(failures()).isEqualTo(3);
        assertThat(delivery.processed()).isDone();
        assertThat(rig.parked).isEmpty();
        assertThat(output)
                .contains((isParked ? "Parking " : "Releasing ") + DeliveryRig.KEY + " failed; it ")
                .doesNotContain((isParked ? "Releasing " : "Parking "))
                .doesNotContain("crashed");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void failureIsRepeatedUntilItIsAnsweredWhileItsMessageIsInvisibleAndItsListenerRuns(boolean isParked) {
        failUnrecorded(isParked);

        repeat(4);
        assertThat(delivery.processed()).isNotDone();
        repeat(1);

        assertThat(failures()).isEqualTo(6);
        assertThat(delivery.processed()).isDone();
        assertThat(rig.parked).hasSize(isParked ? 1 : 0);
    }

    /** Runs a handler that fails. The first five requests to record the failure get no answer. */
    private void failUnrecorded(boolean isParked) {
        rig.timer.hold();
        rig.store.loseFailures(5);
        failHandler(isParked);
    }

    private void failHandler(boolean isParked) {
        InDoubtSettings policy =
                new InDoubtSettings(InDoubtPolicy.RERUN, null, isParked ? List.of(IOException.class) : List.of());
        assertThat(rig.failureOf(delivery, DeliveryRig.spec(policy), claim -> {
                    throw new IOException("down");
                }))
                .isInstanceOf(IOException.class);
    }

    private void repeat(int times) {
        for (int attempt = 0; attempt < times; attempt++) {
            rig.timer.run();
        }
    }

    private int failures() {
        return rig.store.releases().size() + rig.store.parkings().size();
    }

    @Test
    void keyThatAnotherWorkerTookOverIsNotParked(CapturedOutput output) {
        rig.store.onPark(requested -> Set.of());

        failHandler(true);

        assertThat(rig.parked).isEmpty();
        assertThat(output).contains("is not parked: another worker took the key over");
    }

    @Test
    void releaseThatIsRecordedOrRefusedIsNeitherAParkingNorALostCompletion(CapturedOutput output) {
        rig.store.onRelease(requested -> Set.of());
        failHandler(false);
        rig.fail(rig.receive(), new IOException("down"));

        assertThat(rig.store.releases()).hasSize(2);
        assertThat(rig.parked).isEmpty();
        assertThat(rig.lost).isEmpty();
        assertThat(output).doesNotContain("not parked", "Parking ", "Releasing ");
    }

    /**
     * A failure is sent at once, because the next attempt waits for the record. A completion of a FIFO queue is also
     * sent at once, because the next message of the group waits for the record.
     */
    @Test
    void onlyACompletionOfAStandardQueueMayWaitForOthers() throws Throwable {
        rig.process(delivery, claim -> "charged");
        assertThat(rig.awaited).containsExactly(false);

        rig.fail(rig.receive(), new IOException("down"));
        rig.process(rig.receive(rig.subscription("orders.fifo", rig.queue), "fifo", 1), claim -> "charged");

        assertThat(rig.awaited).containsExactly(false, true, true);
    }
}
