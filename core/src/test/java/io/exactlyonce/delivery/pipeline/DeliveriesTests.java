package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.delivery.Cancellation;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(OutputCaptureExtension.class)
class DeliveriesTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final Deliveries deliveries = rig.deliveries();

    @Test
    void deliveryIsRenewedFromItsReceive() {
        rig.receive();
        assertThat(rig.renewer.inFlight()).isOne();

        pass(Duration.ofSeconds(15));

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 30));
    }

    @Test
    void deliveryOnWhichNothingWasDecidedIsReturnedWithBackoff() {
        Delivery delivery = rig.receive(rig.orders, "handle", 3);

        assertThat(deliveries.settle(delivery)).isFalse();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 16));
        assertThat(rig.renewer.inFlight()).isZero();
    }

    @Test
    void deliveryIsSettledOnce() throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(delivery, claim -> null);

        assertThat(deliveries.settle(delivery)).isTrue();
        assertThat(deliveries.settle(delivery)).isFalse();
        assertThat(deliveries.settleWhileStopping(delivery)).isFalse();

        assertThat(rig.queue.requests()).isEmpty();
    }

    @Test
    void returnedDeliveryIsReturnedOnce() {
        Delivery delivery = rig.receive();

        deliveries.settle(delivery);
        deliveries.settle(delivery);
        assertThat(deliveries.settleWhileStopping(delivery)).isFalse();

        assertThat(rig.queue.requests()).hasSize(1);
    }

    @Test
    void deliveryThatNeverReachedItsListenerIsVisibleAtOnce() {
        Delivery delivery = rig.receive(rig.orders, "handle", 5);

        assertThat(deliveries.settleWhileStopping(delivery)).isFalse();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
        assertThat(rig.renewer.inFlight()).isZero();
        assertThat(rig.delivered).isEmpty();
    }

    @Test
    void completedDeliveryThatLeftItsPipelineUnsettledIsAcknowledged() throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(delivery, claim -> null);

        assertThat(deliveries.settleWhileStopping(delivery)).isTrue();
        assertThat(rig.queue.requests()).isEmpty();
    }

    @Test
    void acknowledgedDeliveryIsRenewedUntilItsDeleteIsConfirmed() throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(delivery, claim -> null);
        deliveries.settle(delivery);
        pass(Duration.ofSeconds(15));
        assertThat(rig.queue.requests()).hasSize(1);

        deliveries.acknowledged(delivery);
        pass(Duration.ofSeconds(20));

        assertThat(rig.queue.requests()).hasSize(1);
        assertThat(rig.renewer.inFlight()).isZero();
        assertThat(rig.delivered).containsExactly(Duration.ofSeconds(15));
    }

    @Test
    void refusedDeleteEndsRenewals() throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(delivery, claim -> null);
        deliveries.settle(delivery);

        deliveries.acknowledgementFailed(delivery);
        pass(Duration.ofSeconds(20));

        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.renewer.inFlight()).isZero();
        assertThat(rig.delivered).hasSize(1);
    }

    @Test
    void deliveriesInTheHandsOfACrashAreAbandonedWithTheirClaims() {
        Delivery claimed = rig.receive(rig.orders, "claimed", 1);
        Delivery received = rig.receive(rig.orders, "received", 1);
        Delivery unknown = new Delivery(rig.orders, "id", "unknown", 1, rig.clock.nanoTime());
        DeliveryPipeline pipeline = rig.pipeline();
        List<Delivery> attempts =
                List.of(DeliveryRig.asking(claimed, new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN)));
        pipeline.claim(attempts).join();

        deliveries.abandon(List.of(claimed, received, unknown));
        deliveries.abandon(List.of(claimed, received));
        pipeline.withdraw(attempts);
        rig.tickFor(Duration.ofSeconds(25));

        assertThat(List.of(claimed, received)).allMatch(each -> each.state() == DeliveryState.ABANDONED);
        assertThat(List.of(claimed, received)).allMatch(each -> each.left().isDone());
        assertThat(rig.settled).containsExactly(DeliveryState.ABANDONED, DeliveryState.ABANDONED);
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.store.renewals()).isEmpty();
        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.renewer.inFlight()).isZero();
    }

    @Test
    void crashBetweenClaimAndHandlerIsLoggedOnceAndLeavesAllToTheirEnds(CapturedOutput output) {
        Delivery delivery = rig.receive();
        rig.whenClaimed = () -> {
            throw new OutOfMemoryError("simulated");
        };

        Boundary.guard("poll of orders", () -> claimAhead(delivery), crash -> deliveries.abandon(List.of(delivery)));

        assertThat(output.getOut()).containsOnlyOnce("poll of orders crashed");
        assertLeftToItsEnds(delivery);
    }

    @Test
    void crashWhenAHandlerHasEndedIsLoggedOnceAndLeavesAllToTheirEnds(CapturedOutput output) {
        Delivery delivery = rig.receive();
        rig.whenHandled = () -> {
            throw new StackOverflowError("simulated");
        };

        Boundary.guard(
                "handler of orders",
                () -> {
                    List<Delivery> attempts = claimAhead(delivery);
                    try {
                        rig.pipeline().handle(attempts, (DeliveryRig.SingleHandler) claim -> "shipped");
                    } catch (Error crash) {
                        throw crash;
                    } catch (Throwable failure) {
                        throw new AssertionError(failure);
                    }
                },
                crash -> deliveries.abandon(List.of(delivery)));

        assertThat(output.getOut()).containsOnlyOnce("handler of orders crashed");
        assertLeftToItsEnds(delivery);
    }

    private List<Delivery> claimAhead(Delivery delivery) {
        List<Delivery> attempts =
                List.of(DeliveryRig.asking(delivery, new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN)));
        rig.pipeline().claim(attempts).join();
        return attempts;
    }

    private void assertLeftToItsEnds(Delivery delivery) {
        rig.tickFor(Duration.ofSeconds(25));
        assertThat(deliveries.settle(delivery)).isFalse();
        assertThat(delivery.state()).isEqualTo(DeliveryState.ABANDONED);
        assertThat(delivery.left()).isDone();
        assertThat(rig.store.renewals()).isEmpty();
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.deleted).isEmpty();
    }

    @Test
    void completionOfADeliveryThatACrashHasHitIsKeptAndItsMessageIsNotDeleted() throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(delivery, claim -> null);

        deliveries.abandon(List.of(delivery));

        assertThat(rig.store.completions()).hasSize(1);
        assertThat(deliveries.settle(delivery)).isFalse();
        assertThat(rig.deleted).isEmpty();
        assertThat(rig.settled).isEmpty();
    }

    @Test
    void deliveriesWithoutAHandlerAreNotMeasured() {
        Delivery duplicate = rig.receive();

        deliveries.settle(duplicate);

        assertThat(rig.delivered).isEmpty();
    }

    @Test
    void deliveryIsMeasuredOnceAlthoughItsDeleteIsConfirmedAfterTheListenerStopped() throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(delivery, claim -> null);
        deliveries.settle(delivery);

        deliveries.endStop(rig.orders);
        deliveries.acknowledged(delivery);

        assertThat(rig.delivered).hasSize(1);
    }

    @Test
    void stoppedListenersUnstartedDeliveriesAreVisibleAtOnceAndNotBegunAnyMore() {
        Delivery delivery = rig.receive();

        deliveries.endStop(rig.orders);
        assertThat(deliveries.settle(delivery)).isFalse();
        assertThatThrownBy(() -> rig.process(delivery, DeliveryRig::neverCalled))
                .isInstanceOf(CancellationException.class);
        pass(Duration.ofSeconds(20));

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
        assertThat(rig.store.claims()).isEmpty();
        assertThat(delivery.isHeldBack()).isTrue();
        assertThat(rig.renewer.inFlight()).isZero();
    }

    @Test
    void otherListenersGoOn() {
        ScriptedQueue parcelQueue = new ScriptedQueue();
        Subscription parcels = rig.subscription("parcels", parcelQueue);
        Delivery order = rig.receive();
        Delivery parcel = rig.receive(parcels, "parcel", 1);

        deliveries.endStop(rig.orders);
        pass(Duration.ofSeconds(15));

        assertThat(order.isHeldBack()).isTrue();
        assertThat(parcel.isHeldBack()).isFalse();
        assertThat(parcelQueue.requests()).hasSize(1);
    }

    @Test
    void abandonInterruptsHandlersAndWaitsUntilTheirClaimsAreReleased() {
        Delivery delivery = rig.receive();
        CountDownLatch entered = new CountDownLatch(1);
        CompletableFuture<Void> handling = CompletableFuture.runAsync(() -> handle(delivery, () -> {
            entered.countDown();
            new CountDownLatch(1).await();
        }));
        await().until(() -> entered.getCount() == 0);

        long begun = System.nanoTime();
        deliveries.endStop(rig.orders);
        Duration waited = Duration.ofNanos(System.nanoTime() - begun);

        assertThat(rig.store.releases())
                .extracting(ClaimEnd.Released::ambiguous)
                .containsExactly(true);
        assertThat(rig.returns()).containsExactly(4);
        assertThat(waited).isLessThan(Duration.ofMillis(1_500));
        assertThatThrownBy(handling::join).hasRootCauseInstanceOf(InterruptedException.class);
    }

    @Test
    @Timeout(20)
    void abandonDoesNotWaitForEverForAStubbornHandler() {
        Delivery delivery = rig.receive();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch heeded = new CountDownLatch(1);
        CompletableFuture<Void> handling = CompletableFuture.runAsync(() -> handle(delivery, () -> {
            entered.countDown();
            while (heeded.getCount() > 0) {
                Thread.interrupted();
                Thread.onSpinWait();
            }
        }));
        await().until(() -> entered.getCount() == 0);

        deliveries.endStop(rig.orders);

        assertThat(handling).isNotDone();
        assertThat(rig.store.releases()).isEmpty();
        heeded.countDown();
        await().until(handling::isDone);
    }

    @Test
    void abandonThatIsInterruptedReturnsAtOnce() {
        Delivery delivery = rig.receive();
        delivery.begin();
        delivery.enter(new Cancellation());
        Thread.currentThread().interrupt();

        deliveries.endStop(rig.orders);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(delivery.isAbandoned()).isTrue();
    }

    private interface Work {
        void run() throws InterruptedException;
    }

    private void handle(Delivery delivery, Work work) {
        try {
            rig.process(delivery, claim -> {
                work.run();
                return null;
            });
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }

    private void pass(Duration duration) {
        for (long second = duration.toSeconds(); second > 0; second--) {
            rig.clock.advance(Duration.ofSeconds(1));
            rig.renewer.tick();
        }
    }
}
