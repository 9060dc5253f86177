package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.COMPLETABLE_FUTURE;

import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.queue.QueueVisibility.Change;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests a delivery whose listener begins to stop, at each step of the delivery. */
class ListenerStopTests {

    private static final int BATCH = 10;

    private final DeliveryRig rig = new DeliveryRig();

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    private void assertNotStarted(Delivery delivery) {
        assertThat(rig.failureOf(delivery, DeliveryRig::neverCalled))
                .isInstanceOf(CancellationException.class)
                .hasMessageStartingWith(delivery + " was not started");
        assertThat(rig.settle(delivery)).isFalse();
        assertThat(delivery.processed()).as("nothing waits for it").isCompleted();
        assertThat(delivery.ended()).isCompleted();
    }

    @Test
    void unstartedDeliveriesAreVisibleAtOnceInOneCallAndNeverStarted() {
        List<Delivery> unstarted = IntStream.range(0, BATCH + 2)
                .mapToObj(number -> rig.receive(rig.orders, "handle-" + number, 1))
                .toList();

        rig.deliveries().beginStop(rig.orders);

        assertThat(rig.queue.requests())
                .singleElement()
                .satisfies(changes -> assertThat(changes).hasSize(BATCH + 2).allMatch(each -> each.seconds() == 0));
        assertThat(rig.renewer.renewedCount()).isZero();
        unstarted.forEach(this::assertNotStarted);
        assertThat(rig.store.claims()).isEmpty();
        assertThat(rig.queue.requests()).hasSize(1);
    }

    @Test
    void whatIsReceivedAfterTheStopIsVisibleAtOnceAndNeverStarted() {
        rig.deliveries().beginStop(rig.orders);

        Delivery late = rig.receive();

        assertThat(rig.returns()).containsExactly(0);
        assertNotStarted(late);
    }

    @Test
    void keyThatIsAcquiredAfterTheStopIsReleasedWithoutADoubtAndItsMessageVisibleAtOnce() {
        Delivery delivery = rig.receive();
        rig.store.onClaim(() -> {
            rig.deliveries().beginStop(rig.orders);
            return new Acquired(1, 1, false);
        });

        Throwable thrown = rig.failureOf(delivery, DeliveryRig::neverCalled);
        assertThat(rig.queue.requests()).as("until its claim is released").isEmpty();

        rig.assertNotCalled(delivery, thrown);
        assertThat(rig.returns()).containsExactly(0);
    }

    /** The listener stops waiting while the claim request is at the store. */
    @Test
    void keyThatIsAcquiredAfterItsDeliveryHasEndedIsReleasedAndItsLeaseNotRenewed() {
        Runnable answer = claimLater(rig.receive());
        interrupted(() -> rig.deliveries().endStop(rig.orders));
        assertThat(rig.store.releases()).isEmpty();

        answer.run();

        rig.assertReleased(FailedAttempt.NOT_CALLED);
        rig.tickFor(Duration.ofMinutes(1));
        assertThat(rig.store.renewals()).isEmpty();
    }

    /** Sends the claim of a delivery. The returned task makes the store answer. */
    private Runnable claimLater(Delivery delivery) {
        List<Runnable> asked = new ArrayList<>();
        rig.storeThreads = asked::add;
        rig.pipeline().claim(List.of(DeliveryRig.asking(delivery)));
        rig.storeThreads = Runnable::run;
        return () -> asked.forEach(Runnable::run);
    }

    /** Stops a listener on an interrupted thread, so that the stop does not wait for handlers. */
    private static void interrupted(Runnable stop) {
        Thread.currentThread().interrupt();
        stop.run();
        assertThat(Thread.interrupted()).isTrue();
    }

    /**
     * If the message were visible before the release of its claim is recorded, the next consumer would find the key
     * held, and wait.
     */
    @Test
    void messageWhoseClaimTheStopReleasesIsVisibleOnlyOnceThatIsOnRecord() {
        List<Delivery> claimed = List.of(DeliveryRig.asking(rig.receive()));
        rig.pipeline().claim(claimed);
        List<Runnable> asked = new ArrayList<>();
        rig.storeThreads = asked::add;

        rig.deliveries().beginStop(rig.orders);
        assertThat(rig.pipeline().admit(claimed)).isEmpty();

        assertThat(claimed.get(0).processed()).isNotDone();
        assertThat(rig.queue.requests()).isEmpty();
        asked.forEach(Runnable::run);
        assertThat(claimed.get(0).processed()).isCompleted();
        assertThat(rig.returns()).containsExactly(0);
        assertThat(rig.store.releases()).as("by the stop alone").hasSize(1);
    }

    /** A claimed message on its last receive may still be handled until its listener stops waiting. */
    @Test
    void claimedMessageOnItsLastReceiveIsGivenUpWhenItsListenerWaitsNoLonger() {
        Delivery last = DeliveryRig.asking(rig.receiveLast());
        rig.pipeline().claim(List.of(last));

        rig.deliveries().beginStop(last.subscription());
        assertThat(rig.store.releases()).isEmpty();
        rig.deliveries().interruptHandlers(last.subscription());

        rig.assertReleased(FailedAttempt.NOT_CALLED);
        assertThat(rig.returns()).containsExactly(0);
    }

    @Test
    void handlerThatIsRunningContinuesUnderRenewalAndItsMessageIsAcknowledged() throws Throwable {
        Delivery delivery = rig.receive();

        rig.process(delivery, claim -> {
            rig.deliveries().beginStop(rig.orders);
            rig.tickFor(Duration.ofSeconds(45));
            claim.ensureHeld();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return null;
        });

        assertThat(rig.returns()).hasSizeGreaterThan(2).containsOnly(30);
        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.settle(delivery)).isTrue();
    }

    @Test
    void futureOfAnAsynchronousHandlerContinuesUntilItIsCancelledOnceWhenTheTimeIsOver() throws Throwable {
        Delivery delivery = rig.receive();
        CompletableFuture<Object> work = new CompletableFuture<>();
        Object recorded = DeliveryRig.process(
                rig.pipeline(),
                List.of(DeliveryRig.asking(delivery, new ClaimSpec(DeliveryRig.KEY, null, InDoubtSettings.RERUN))),
                claimed -> work);

        rig.deliveries().beginStop(rig.orders);
        rig.tickFor(Duration.ofSeconds(45));
        assertThat(work).isNotDone();
        assertThat(rig.store.renewals()).hasSizeGreaterThan(2);
        rig.deliveries().interruptHandlers(rig.orders);

        assertThat(work).isCancelled();
        assertThat(recorded).asInstanceOf(COMPLETABLE_FUTURE).isCompletedExceptionally();
        assertThat(rig.store.releases())
                .as("it is not known whether its work has stopped")
                .isEmpty();
    }

    @Test
    void waitThatBeginsWhileItsListenerStopsIsEndedAgain() throws Throwable {
        Subscription threeReceives = rig.receiving(3);
        Delivery delivery = rig.receive(threeReceives, "handle", 2);
        rig.store.answer(new HeldElsewhere(Duration.ofSeconds(10)));
        rig.process(delivery, DeliveryRig::neverCalled);
        rig.onFinalReceive = () -> rig.deliveries().beginStop(threeReceives);

        rig.settle(delivery);

        assertThat(rig.queue.changes()).hasSize(1);
        assertThat(threeReceives.levels().waiting()).hasValue(0);
    }

    @Test
    void waitingMessagesAreReturnedTogether() throws Throwable {
        for (Delivery delivery : List.of(rig.receive(), rig.receive(rig.orders, "another", 1))) {
            rig.store.answer(new HeldElsewhere(Duration.ofSeconds(10)));
            rig.process(delivery, DeliveryRig::neverCalled);
            rig.settle(delivery);
        }

        rig.deliveries().beginStop(rig.orders);

        assertThat(rig.queue.requests()).hasSize(1);
        assertThat(rig.returns()).containsExactly(4, 4);
    }

    @Test
    void messageOnItsLastReceiveIsHandledRatherThanGivenUpUntried() throws Throwable {
        Subscription twoReceives = rig.receiving(2);
        Delivery early = rig.receive(twoReceives, "early", 2);
        rig.deliveries().beginStop(twoReceives);
        Delivery late = rig.receive(twoReceives, "late", 2);
        Delivery unstarted = rig.receive(twoReceives, "unstarted", 2);

        for (Delivery delivery : List.of(early, late)) {
            rig.process(delivery, claim -> null);
            assertThat(rig.settle(delivery)).isTrue();
        }
        assertThat(rig.queue.requests()).isEmpty();
        rig.deliveries().endStop(twoReceives);

        assertThat(rig.queue.changes()).containsExactly(new Change("unstarted", 0));
        assertNotStarted(unstarted);
    }

    /** The handler ignores the stop. Its claim is completed, because the effect has happened. */
    @Test
    void handlerThatEndsAfterItsListenerIsCompletedAllTheSame() throws Throwable {
        rig.process(rig.receive(), claim -> {
            rig.deliveries().endStop(rig.orders);
            Thread.interrupted();
            return "shipped";
        });

        rig.assertCompleted("\"shipped\"");
    }

    @Test
    void completedDeliveryThatHasNotLeftItsPipelineIsDeletedBeforeTheLastDeletesAreSent() throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(delivery, claim -> null);

        rig.deliveries().interruptHandlers(rig.orders);

        assertThat(rig.deleted).containsExactly(delivery);
        assertThat(rig.settle(delivery)).isFalse();
    }

    @Test
    void deletesThatCannotBeStartedDoNotKeepTheListenerFromStopping() throws Throwable {
        Delivery delivery = rig.receive();
        delivery.deleteBy(() -> {
            throw new IllegalStateException("connection pool shut down");
        });
        rig.process(delivery, claim -> null);

        rig.deliveries().endStop(rig.orders);

        assertThat(rig.renewer.renewedCount()).isZero();
    }

    @Test
    void messageIsRenewedWhileItsDeleteIsUnconfirmedUntilTheEnd() throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(delivery, claim -> null);
        rig.settle(delivery);

        rig.deliveries().beginStop(rig.orders);
        rig.deliveries().interruptHandlers(rig.orders);
        rig.tickFor(Duration.ofSeconds(16));
        assertThat(rig.returns()).containsExactly(30);
        rig.deliveries().endStop(rig.orders);
        rig.tickFor(Duration.ofSeconds(16));

        assertThat(rig.queue.requests()).hasSize(1);
        assertThat(rig.deleted).isEmpty();
    }

    @Test
    void messageThatWasReturnedKeepsBackTheRestOfItsGroupWhichTheStopHasNotComeToYet() throws Throwable {
        List<Delivery> group = List.of(rig.receive("first", "group"), rig.receive("second", "group"));
        assertThat(group.get(0).holdBack()).isTrue();

        rig.process(group, acquired -> {
            throw new AssertionError("The handler was called");
        });

        assertThat(rig.store.releases()).hasSize(1).noneMatch(ClaimResolution.Released::inDoubt);
        assertThat(rig.settle(group.get(1))).isFalse();
    }

    /**
     * The first run stops the listener at the first reading of the clock, the second run at the second reading, and so
     * on. The engine reads the clock before each step of a message, even right before the handler's call, so these
     * stops cover all steps.
     */
    @Test
    void stopAtAnyMomentLeavesNoClaimOfAGroupToItsLeaseAndKeepsItsOrder() throws Throwable {
        int moment = 0;
        while (stopsInTime(moment)) {
            moment++;
        }
        assertThat(moment).isPositive();
    }

    /**
     * Processes a group, and stops its listener at one reading of the clock. The later message is on its last receive,
     * so the stop itself does not release the claim of that message. Returns false if the clock was read fewer times.
     */
    private static boolean stopsInTime(int moment) throws Throwable {
        DeliveryRig rig = new DeliveryRig();
        Subscription orders = rig.receiving("orders.fifo", 3);
        List<Delivery> group = Stream.of(rig.receive(orders, "first", 1), rig.receive(orders, "last", 3))
                .map(each -> DeliveryRig.asking(
                        each,
                        "group",
                        new ClaimSpec(DeliveryRig.key(each.receiptHandle()), null, InDoubtSettings.RERUN)))
                .toList();
        List<Delivery> handled = new ArrayList<>();
        AtomicInteger looks = new AtomicInteger(moment);
        rig.clock.whenRead(() -> {
            if (looks.getAndDecrement() == 0) {
                rig.deliveries().beginStop(orders);
            }
        });

        try {
            rig.process(group, handled::addAll);
        } catch (ClaimLostException | CancellationException notHandled) {
            // The listener stopped before the handler was called.
        }

        assertThat(handled).as("handled, stopped at look %d", moment).isEqualTo(group.subList(0, handled.size()));
        assertThat(Stream.concat(
                        rig.store.completions().stream().map(ClaimResolution.Completed::claim),
                        rig.store.releases().stream().map(ClaimResolution.Released::claim)))
                .as("ended, stopped at look %d", moment)
                .containsExactlyInAnyOrderElementsOf(rig.store.claimed());
        return looks.get() < 0;
    }
}
