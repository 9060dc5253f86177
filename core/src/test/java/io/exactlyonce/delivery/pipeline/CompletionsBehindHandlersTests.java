package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.renewal.RenewalObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a handler ended is recorded after its thread has gone, and acted on after that. */
@ExtendWith(OutputCaptureExtension.class)
class CompletionsBehindHandlersTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();
    private final List<Runnable> asked = new ArrayList<>();

    /** From the handler's end on: claims are answered at once. */
    private void askLater() {
        rig.whenHandled = () -> rig.storeThreads = asked::add;
    }

    private void answerAll() {
        List<Runnable> due = List.copyOf(asked);
        asked.clear();
        due.forEach(Runnable::run);
    }

    @Test
    void handlersThreadDoesNotWaitAndNothingIsDeletedBeforeTheCompletionIsRecorded() throws Throwable {
        askLater();

        assertThat(rig.process(delivery, claim -> "charged")).isEqualTo("charged");
        assertThat(delivery.state()).isEqualTo(DeliveryState.HANDLED);
        assertThat(delivery.left()).isNotDone();

        answerAll();

        assertThat(delivery.left()).isDone();
        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void failedHandlersMessageIsReturnedOnlyWhenItsKeyIsReleased() {
        askLater();

        assertThatThrownBy(() -> rig.process(delivery, claim -> {
                    throw new IOException("down");
                }))
                .isInstanceOf(IOException.class);
        assertThat(delivery.left()).isNotDone();
        answerAll();

        assertThat(delivery.left()).isDone();
        rig.deliveries().settle(delivery);
        assertThat(rig.returns()).hasSize(1);
    }

    @Test
    void completionWhoseReplyIsLostIsRepeatedWithoutAThreadUntilItIsAnswered() throws Throwable {
        rig.timer.hold();
        for (int lost = 0; lost < 3; lost++) {
            rig.store.onComplete(requested -> {
                throw new IllegalStateException("connection reset");
            });
        }

        assertThat(rig.process(delivery, claim -> "charged")).isEqualTo("charged");
        rig.timer.run();
        rig.timer.run();
        assertThat(delivery.left()).isNotDone();
        rig.timer.run();

        assertThat(rig.store.completions()).hasSize(4).containsOnly(new ClaimEnd.Completed(claimed(), "\"charged\""));
        assertThat(rig.timer.delays())
                .hasSize(3)
                .allMatch(delay -> delay.toMillis() >= 50 && delay.toMillis() <= 2_100);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void windowAndLeaseAreRenewedForAsLongAsTheCompletionIsUnanswered() throws Throwable {
        rig.timer.hold();
        rig.store.onComplete(requested -> {
            throw new IllegalStateException("connection refused");
        });
        rig.process(delivery, claim -> "charged");

        rig.tickFor(Duration.ofMinutes(2));
        assertThat(rig.store.renewals()).hasSizeGreaterThan(5);
        assertThat(delivery.window().isInvisible()).isTrue();
        rig.timer.run();

        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
    }

    /** The handler has ended, and its result is recorded in the end: nothing is lost. */
    @Test
    void leaseThatEndsWhileItsCompletionIsUnansweredIsNoLostClaim(CapturedOutput output) throws Throwable {
        rig.timer.hold();
        rig.store.onComplete(requested -> {
            throw new IllegalStateException("connection refused");
        });
        rig.process(delivery, claim -> "charged");
        for (int renewal = 0; renewal < 10; renewal++) {
            rig.store.onRenew(requested -> {
                throw new IllegalStateException("connection refused");
            });
        }

        rig.tickFor(Duration.ofSeconds(40));
        assertThat(delivery.window().isHeld()).isFalse();
        rig.timer.run();

        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
        assertThat(rig.claimsLost).isEmpty();
        assertThat(rig.renewalsOfLeases).doesNotContain(RenewalObserver.Result.LOST);
        assertThat(output.getOut())
                .containsOnlyOnce("is over, and the completion of its claim is not answered yet")
                .doesNotContain("its handler is interrupted");
    }

    @Test
    void completionThatIsUnansweredWhileItsListenerStopsIsGivenUpAndLeftToItsLease(CapturedOutput output)
            throws Throwable {
        rig.timer.hold();
        rig.store.onComplete(requested -> {
            throw new IllegalStateException("connection refused");
        });
        rig.store.onComplete(requested -> {
            throw new IllegalStateException("connection refused again");
        });
        rig.process(delivery, claim -> "charged");
        delivery.abandon();

        rig.timer.run();

        assertThat(delivery.left()).isDone();
        assertThat(rig.store.completions()).hasSize(2);
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.lost).as("no other worker has taken the key over").isEmpty();
        assertThat(output).contains("could not be recorded before its listener stopped", "connection refused again");
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).isEmpty();
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

    /** Another consumer may have the message by then: what is left is the doubt that the lease's end leaves. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void failureIsTriedThreeTimesOnceItsMessageIsVisible(boolean isParked, CapturedOutput output) {
        rig.timer.hold();
        refuseFailures(5);
        failHandler(isParked);

        rig.clock.advance(DeliveryRig.WINDOW);
        repeat(4);

        assertThat(failures()).isEqualTo(3);
        assertThat(delivery.left()).isDone();
        assertThat(rig.parked).isEmpty();
        assertThat(output)
                .contains((isParked ? "Parking " : "Releasing ") + DeliveryRig.KEY + " failed; it ")
                .doesNotContain((isParked ? "Releasing " : "Parking "));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void failureIsTriedThreeTimesOnceItsListenerHasStopped(boolean isParked) {
        rig.timer.hold();
        refuseFailures(5);
        failHandler(isParked);

        delivery.abandon();
        repeat(4);

        assertThat(failures()).isEqualTo(3);
        assertThat(delivery.left()).isDone();
        assertThat(rig.parked).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void failureIsRepeatedUntilItIsAnsweredWhileItsMessageIsInvisibleAndItsListenerRuns(boolean isParked) {
        rig.timer.hold();
        refuseFailures(5);
        failHandler(isParked);

        repeat(4);
        assertThat(delivery.left()).isNotDone();
        repeat(1);

        assertThat(failures()).isEqualTo(6);
        assertThat(delivery.left()).isDone();
        assertThat(rig.parked).hasSize(isParked ? 1 : 0);
    }

    private void refuseFailures(int times) {
        for (int refusal = 0; refusal < times; refusal++) {
            rig.store.onRelease(requested -> refuse());
            rig.store.onPark(requested -> refuse());
        }
    }

    private static Set<ClaimId> refuse() {
        throw new IllegalStateException("connection refused");
    }

    private void failHandler(boolean isParked) {
        InDoubtPolicy policy =
                new InDoubtPolicy(AbandonedPolicy.RERUN, null, isParked ? List.of(IOException.class) : List.of());
        assertThatThrownBy(() -> rig.process(delivery, new ClaimSpec(DeliveryRig.KEY, null, policy), claim -> {
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
        assertThatThrownBy(() -> rig.process(rig.receive(), claim -> {
                    throw new IOException("down");
                }))
                .isInstanceOf(IOException.class);

        assertThat(rig.store.releases()).hasSize(2);
        assertThat(rig.parked).isEmpty();
        assertThat(rig.lost).isEmpty();
        assertThat(output).doesNotContain("not parked", "Parking ", "Releasing ");
    }

    /** The next attempt waits for the record of a failure, and the next message of a group for that of a completion. */
    @Test
    void onlyACompletionOfAStandardQueueMayWaitForOthers() throws Throwable {
        rig.process(delivery, claim -> "charged");
        assertThat(rig.awaited).containsExactly(false);

        assertThatThrownBy(() -> rig.process(rig.receive(), claim -> {
                    throw new IOException("down");
                }))
                .isInstanceOf(IOException.class);
        rig.process(rig.receive(rig.subscription("orders.fifo", rig.queue), "fifo", 1), claim -> "charged");

        assertThat(rig.awaited).containsExactly(false, true, true);
    }

    @Test
    void crashWhileAnOutcomeIsToldKeepsNoOtherDeliveryOfItsBatch() throws Throwable {
        rig.whenCompletionLost = () -> {
            throw new StackOverflowError("simulated");
        };
        rig.store.onComplete(requested -> Set.of());
        List<Delivery> batch = List.of(asking("A-1"), asking("A-2"));

        rig.process(batch, claimed -> {});

        assertThat(rig.lost).hasSize(1);
        assertThat(batch).allMatch(each -> each.left().isDone());
    }

    private Delivery asking(String key) {
        return DeliveryRig.asking(
                rig.receive(rig.orders, key, 1),
                "",
                new ClaimSpec(new ClaimKey("orders", key), null, InDoubtPolicy.RERUN));
    }

    private ClaimId claimed() {
        return rig.store.claims().get(0).id();
    }
}
