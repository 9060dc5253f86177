package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimRequest;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Deliveries that end otherwise than by a completion and a delete: nothing of them stays behind. */
@ExtendWith(OutputCaptureExtension.class)
class DeliveryLossesTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();

    @Test
    void keyOfAnotherPayloadIsNeitherHandledNorAcknowledged() throws Throwable {
        rig.store.onClaim(() -> new Mismatch("\"charged\""));

        assertThat(rig.process(delivery, DeliveryRig::neverCalled)).isNull();

        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
        assertThat(rig.outcomes).containsExactly(new Mismatch("\"charged\""));
    }

    @Test
    void duplicateIsNotMeasuredWhenItsDeleteIsConfirmed() throws Throwable {
        rig.store.onClaim(() -> new AlreadyCompleted(null));
        rig.process(delivery, DeliveryRig::neverCalled);
        rig.deliveries().settle(delivery);

        rig.deliveries().acknowledged(delivery);

        assertThat(rig.delivered).isEmpty();
    }

    @Test
    void claimLostBeforeTheCompletionEndsTheRenewalOfItsWindow(CapturedOutput output) throws Throwable {
        rig.store.onComplete(requested -> Set.of());

        assertThat(rig.process(delivery, claim -> "charged")).isEqualTo("charged");

        assertThat(rig.lost).containsExactly(rig.orders);
        assertThat(output).contains("another worker took", "its result is discarded");

        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.renewer.inFlight()).isZero();
        assertThat(rig.returns()).isEmpty();
    }

    @Test
    void resultThatCannotBeStoredDoesNotHideThatTheClaimIsLost() throws Throwable {
        rig.store.onComplete(requested -> {
            throw new IllegalArgumentException("NUL");
        });
        rig.store.onComplete(requested -> Set.of());

        rig.process(delivery, claim -> "charged");

        assertThat(rig.lost).containsExactly(rig.orders);
        assertThat(rig.store.completions())
                .extracting(ClaimEnd.Completed::result)
                .containsExactly("\"charged\"", null);
    }

    @Test
    void renewalThatComesAfterTheCompletionIsNoLoss() throws Throwable {
        rig.store.onComplete(requested -> {
            rig.loseLease();
            return requested;
        });

        rig.process(delivery, claim -> "charged");

        assertThat(delivery.mayHandlerBegin()).isTrue();
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void leaseOfAHandlerThatWasNotCalledIsNotRenewed() {
        delivery.stopHandler();

        assertThatThrownBy(() -> rig.process(delivery, DeliveryRig::neverCalled))
                .isInstanceOf(ClaimLostException.class);
        rig.clock.advance(Duration.ofSeconds(10));
        rig.renewer.tick();

        assertThat(rig.store.renewals()).isEmpty();
        assertThat(rig.store.releases()).hasSize(1);
    }

    @Test
    void handlerThatIsStoppedJustBeforeItBeginsIsInterrupted() {
        delivery.stopHandler();

        try (Cancellation run = new Cancellation()) {
            delivery.enter(run);
            assertThat(run.wasStopped()).isTrue();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        }

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void stubbornHandlersDeliveryIsRenewedNoMoreWhenItsListenerStops() {
        delivery.begin();
        Thread.currentThread().interrupt();

        rig.deliveries().endStop(rig.orders);

        assertThat(Thread.interrupted())
                .as("the interrupt that ended the wait is kept")
                .isTrue();
        assertThat(rig.renewer.inFlight()).isZero();
        assertThat(rig.returns()).isEmpty();
    }

    /** The call that is planned already is made: the next one is not. */
    @Test
    void interruptEndsTheRepeatsOfAClaimThatAThreadWaitsFor() {
        Thread waiting = Thread.currentThread();
        rig.timer.hold();
        rig.store.failClaims(true);
        ClaimRequest request = new ClaimRequest(DeliveryRig.KEY, UUID.randomUUID(), "worker", Duration.ofSeconds(30));
        var repeating = CompletableFuture.runAsync(() -> {
            await().until(() -> waiting.getState() == Thread.State.WAITING);
            rig.timer.run();
        });
        waiting.interrupt();

        assertThatThrownBy(() -> rig.claims().awaitClaim(request)).isInstanceOf(IllegalStateException.class);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(rig.store.claimCalls()).isEqualTo(2);
        assertThat(repeating).succeedsWithin(Duration.ofSeconds(10));
    }

    @Test
    void claimWithoutDoubtSaysSo() throws Throwable {
        rig.process(delivery, claim -> {
            assertThat(claim.isAmbiguous()).isFalse();
            return null;
        });

        ClaimId id = rig.store.claims().get(0).id();
        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(id, null));
    }

    @Test
    void textNamesMessageReceiveAndListener() {
        assertThat(delivery.messageId()).isEqualTo("id");
        assertThat(delivery).hasToString("message id (receive 1) of " + rig.orders);
    }

    @Test
    void deliveryThatHasNotBegunHasNoRenewal() {
        Delivery early = new Delivery(rig.orders, "id", "handle", 1, 0);

        assertThatIllegalStateException().isThrownBy(early::window).withMessage("Delivery of message id has not begun");
    }
}
