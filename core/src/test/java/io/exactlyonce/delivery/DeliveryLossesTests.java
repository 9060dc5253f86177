package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Deliveries that are not handled, completed and deleted in the usual way. The engine keeps no state of them. */
class DeliveryLossesTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();

    @Test
    void duplicateIsNotMeasuredWhenItsDeleteIsConfirmed() throws Throwable {
        rig.store.answer(new AlreadyCompleted(null));
        rig.process(delivery, DeliveryRig::neverCalled);
        rig.settle(delivery);

        rig.deliveries().acknowledged(delivery);

        assertThat(rig.delivered).isEmpty();
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
                .extracting(ClaimResolution.Completed::result)
                .containsExactly("\"charged\"", null);
    }

    @Test
    void leaseOfAHandlerThatWasNotCalledIsNotRenewed() {
        delivery.stopHandler();

        Throwable thrown = rig.failureOf(delivery, DeliveryRig::neverCalled);
        rig.tickFor(Duration.ofSeconds(10));

        assertThat(rig.store.renewals()).isEmpty();
        rig.assertNotCalled(delivery, thrown);
    }

    @Test
    void handlerThatIsStoppedJustBeforeItBeginsIsInterrupted() {
        delivery.stopHandler();

        try (Cancellation run = new Cancellation()) {
            delivery.beginCall(run);
            assertThat(run.wasStopped()).isTrue();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        }

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void stubbornHandlersDeliveryIsRenewedNoMoreWhenItsListenerStops() {
        delivery.attempt().begin();
        Thread.currentThread().interrupt();

        rig.deliveries().endStop(rig.orders);

        assertThat(Thread.interrupted())
                .as("the interrupt that ended the wait is kept")
                .isTrue();
        assertThat(rig.renewer.renewedCount()).isZero();
        assertThat(rig.returns()).isEmpty();
    }

    /**
     * The interrupt comes while a repeat is already scheduled. This repeat still calls the store, and no further repeat
     * follows.
     */
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
}
