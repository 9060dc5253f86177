package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.BatchResult;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.queue.QueueVisibility.Change;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(OutputCaptureExtension.class)
class DeliveriesTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final Deliveries deliveries = rig.deliveries();

    @Test
    void deliveryOnWhichNothingWasDecidedIsReturnedWithBackoff() {
        Delivery delivery = rig.receive(rig.orders, "handle", 3);

        assertThat(deliveries.settle(delivery)).isFalse();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 16));
        assertThat(rig.renewer.renewedCount()).isZero();
    }

    /** The line names only the class of the exception, because the exception's message may quote the payload. */
    @Test
    void failedAttemptIsOneLineWithItsExceptionsClassAndTheNextAttempt(CapturedOutput output) {
        Delivery first = rig.receive(rig.orders, "handle", 2);
        rig.fail(first, new IllegalStateException("card 4711"));
        Delivery last = rig.receiveLast();
        rig.fail(last, new CompletionException(new IllegalArgumentException("card 4711")));

        deliveries.settle(first);
        deliveries.settle(last);

        assertThat(output)
                .contains(
                        "WARN",
                        "message id (receive 2) of listener 'listener' on queue 'orders' failed with"
                                + " java.lang.IllegalStateException (attempt 1 at " + DeliveryRig.KEY
                                + "); next attempt in 8.0 s",
                        "failed with java.lang.IllegalArgumentException (attempt 1 at " + DeliveryRig.KEY
                                + "); next attempt none: receive 1 of 1 was its last, and its queue moves it to the"
                                + " dead-letter queue 'dead-letters'")
                .doesNotContain("4711");
        assertThat(output.getOut().lines().filter(line -> line.contains(" WARN ")))
                .as("one line each")
                .hasSize(2);
        assertThat(rig.lastReceivesFailed)
                .containsExactly(new DeliveryEvent.LastReceiveFailed(
                        last.subscription(), DeliveryRig.KEY, 1, 1, "dead-letters"));
    }

    @Test
    void attemptThatParksItsKeyOnTheLastReceiveIsReportedAsTheLastAndLoggedAsParked(CapturedOutput output) {
        Delivery last = rig.receiveLast();
        InDoubtSettings one = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(), 1);
        rig.failureOf(last, DeliveryRig.spec(one), claim -> {
            throw new IllegalStateException("refused");
        });

        deliveries.settle(last);

        assertThat(rig.parked).containsExactly(DeliveryRig.KEY);
        assertThat(rig.lastReceivesFailed).hasSize(1);
        assertThat(output.getOut().lines().filter(line -> line.contains(" WARN ")))
                .singleElement()
                .asString()
                .contains("its key is parked until an operator decides, and its queue moves the message to the"
                        + " dead-letter queue");
    }

    @Test
    void messageThatWasNotTriedOnItsLastReceiveHasNotFailed() {
        Delivery parked = DeliveryRig.asking(rig.receiveLast());
        rig.store.answer(new ClaimOutcome.Parked());
        rig.pipeline().claim(List.of(parked)).join();

        deliveries.settle(parked);

        assertThat(rig.lastReceivesFailed).isEmpty();
    }

    /**
     * The pause is longer than the visibility timeout, so another consumer may have the message. The engine does not
     * return the message, and cannot know the time of the next attempt.
     */
    @Test
    void attemptThatFailedAfterItsVisibilityTimeoutNamesNoTime(CapturedOutput output) {
        Delivery delivery = rig.receive();
        rig.fail(delivery, new IllegalStateException());
        rig.clock.advance(DeliveryRig.WINDOW);

        deliveries.settle(delivery);

        assertThat(rig.queue.changes()).isEmpty();
        assertThat(output).contains("next attempt when SQS redelivers it: its visibility timeout is over");
    }

    @Test
    void itemsOfABatchThatFailedHaveALineEach(CapturedOutput output) {
        List<Delivery> batch = rig.receiveAll("a", "b", "c");
        rig.failureOf(
                batch,
                claimed -> DeliveryRig.end(
                        BatchResult.failed(0, new IllegalStateException()).andFailed(2, new IOException()), claimed));

        assertThat(rig.settle(batch)).containsExactly(1);

        assertThat(output)
                .contains(
                        "failed with java.lang.IllegalStateException (attempt 1 at " + DeliveryRig.key("a"),
                        "failed with java.io.IOException (attempt 1 at " + DeliveryRig.key("c"))
                .doesNotContain(DeliveryRig.key("b").toString());
    }

    @Test
    void deliveryThatNeverReachedItsListenerIsVisibleAtOnce() {
        Delivery delivery = rig.receive(rig.orders, "handle", 5);

        assertThat(deliveries.settleWhileStopping(delivery)).isFalse();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
        assertThat(rig.renewer.renewedCount()).isZero();
        assertThat(rig.delivered).isEmpty();
    }

    /** A claim that is not released would leave its key in doubt when the lease expires. */
    @Test
    void claimThatDidNotReachItsHandlerIsReleasedAtTheEnd() {
        Delivery delivery = DeliveryRig.asking(rig.receive());
        rig.pipeline().claim(List.of(delivery)).join();

        deliveries.end(delivery);

        rig.assertReleased(FailedAttempt.NOT_CALLED);
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
        rig.tickFor(Duration.ofSeconds(15));
        assertThat(rig.queue.requests()).hasSize(1);

        deliveries.acknowledged(delivery);
        rig.tickFor(Duration.ofSeconds(20));

        assertThat(rig.queue.requests()).hasSize(1);
        assertThat(rig.renewer.renewedCount()).isZero();
        assertThat(rig.delivered).containsExactly(Duration.ofSeconds(15));
    }

    @Test
    void refusedDeleteEndsRenewals() throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(delivery, claim -> null);
        deliveries.settle(delivery);

        deliveries.acknowledgementFailed(delivery);
        rig.tickFor(Duration.ofSeconds(20));

        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.renewer.renewedCount()).isZero();
        assertThat(rig.delivered).hasSize(1);
    }

    @Test
    void crashBetweenClaimAndHandlerIsLoggedOnceAndLeavesAllToTheirEnds(CapturedOutput output) {
        Delivery claimed = rig.receive(rig.orders, "claimed", 1);
        Delivery received = rig.receive(rig.orders, "received", 1);
        rig.whenClaimed = () -> {
            throw new OutOfMemoryError("simulated");
        };

        Boundary.guard(
                "poll of orders",
                () -> rig.pipeline().claim(List.of(DeliveryRig.asking(claimed))).join(),
                crash -> deliveries.abandon(List.of(claimed, received)));
        rig.tickFor(Duration.ofSeconds(25));

        assertThat(output.getOut()).containsOnlyOnce("poll of orders crashed");
        assertThat(List.of(claimed, received))
                .allMatch(each -> each.state() == DeliveryState.ABANDONED)
                .allMatch(each -> each.processed().isDone())
                .noneMatch(deliveries::settle);
        assertThat(rig.settled).containsExactly(DeliveryState.ABANDONED, DeliveryState.ABANDONED);
        assertThat(rig.store.renewals()).isEmpty();
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.renewer.renewedCount()).isZero();
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
    void abandonInterruptsHandlersAndWaitsUntilTheirClaimsAreReleased() {
        Delivery delivery = rig.receive();
        CompletableFuture<Throwable> handling = handle(delivery, () -> new CountDownLatch(1).await());

        long start = System.nanoTime();
        deliveries.endStop(rig.orders);
        Duration waited = Duration.ofNanos(System.nanoTime() - start);

        rig.assertReleasedInDoubt();
        assertThat(rig.returns()).containsExactly(4);
        assertThat(waited).isLessThan(Duration.ofMillis(1_500));
        assertThat(handling.join()).isInstanceOf(InterruptedException.class);
    }

    @Test
    @Timeout(20)
    void abandonDoesNotWaitForEverForAStubbornHandler() {
        Delivery delivery = rig.receive();
        CountDownLatch heeded = new CountDownLatch(1);
        CompletableFuture<Throwable> handling = handle(delivery, () -> {
            while (heeded.getCount() > 0) {
                Thread.interrupted();
                Thread.onSpinWait();
            }
        });

        deliveries.endStop(rig.orders);

        assertThat(handling).isNotDone();
        assertThat(rig.store.releases()).isEmpty();
        heeded.countDown();
        assertThat(handling.join()).isNull();
    }

    private interface Work {
        void run() throws InterruptedException;
    }

    /** Starts the handler on another thread, and waits until the handler runs. */
    private CompletableFuture<Throwable> handle(Delivery delivery, Work work) {
        CountDownLatch entered = new CountDownLatch(1);
        CompletableFuture<Throwable> handling = CompletableFuture.supplyAsync(() -> rig.failureOf(delivery, claim -> {
            entered.countDown();
            work.run();
            return null;
        }));
        await().until(() -> entered.getCount() == 0);
        return handling;
    }
}
