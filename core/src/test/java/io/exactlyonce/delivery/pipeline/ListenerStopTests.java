package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.COMPLETABLE_FUTURE;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.visibility.PollGate;
import io.exactlyonce.visibility.QueueVisibility;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.QueueVisibility.Result;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of a delivery, by where it is when its listener begins to stop. */
class ListenerStopTests {

    private static final int BATCH = 10;

    private final DeliveryRig rig = new DeliveryRig();

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    private List<Delivery> receive(int messages) {
        List<Delivery> received = new ArrayList<>();
        for (int number = 0; number < messages; number++) {
            received.add(rig.receive(rig.orders, "handle-" + number, 1));
        }
        return received;
    }

    /** Or each start of a container would leave its client of SQS in memory. */
    @Test
    void clientOfAListenerThatHasStoppedIsForgotten() {
        WeakReference<QueueVisibility> client = stopAnother();

        await().atMost(Duration.ofSeconds(10)).until(() -> {
            System.gc();
            return client.get() == null;
        });
    }

    private WeakReference<QueueVisibility> stopAnother() {
        QueueVisibility client = new ScriptedQueue();
        Subscription another = rig.subscription("parcels", client);
        rig.deliveries().beginStop(another);
        rig.deliveries().endStop(another);
        assertThat(another.isStopping()).isTrue();
        assertThat(rig.orders.isStopping()).isFalse();
        return new WeakReference<>(client);
    }

    private void assertNotBegun(Delivery delivery) {
        assertThatThrownBy(() -> rig.process(delivery, DeliveryRig::neverCalled))
                .isInstanceOf(CancellationException.class);
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(delivery.left()).as("nothing waits for it").isCompleted();
        assertThat(delivery.gone()).as("nor its group").isCompletedWithValue(delivery.isOnItsLastReceive());
    }

    @Test
    void unstartedDeliveriesAreVisibleAtOnceInOneCallAndNeverBegun() {
        List<Delivery> unstarted = receive(BATCH + 2);

        rig.deliveries().beginStop(rig.orders);

        assertThat(rig.queue.requests())
                .singleElement()
                .satisfies(changes -> assertThat(changes).hasSize(BATCH + 2).allMatch(each -> each.seconds() == 0));
        assertThat(rig.renewer.inFlight()).isZero();
        unstarted.forEach(this::assertNotBegun);
        assertThat(rig.store.claims()).isEmpty();
        assertThat(rig.queue.requests()).hasSize(1);
    }

    @Test
    void whatIsReceivedAfterTheStopIsVisibleAtOnceAndNeverBegun() {
        rig.deliveries().beginStop(rig.orders);

        Delivery late = rig.receive();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
        assertNotBegun(late);
    }

    @Test
    void keyThatIsAcquiredAfterTheStopIsGivenBackWithoutADoubtAndItsMessageVisibleAtOnce() {
        Delivery delivery = rig.receive();
        rig.store.onClaim(() -> {
            rig.deliveries().beginStop(rig.orders);
            return new Acquired(1, 1, false);
        });

        assertThatThrownBy(() -> rig.process(delivery, DeliveryRig::neverCalled))
                .isInstanceOf(ClaimLostException.class);
        assertThat(rig.store.releases())
                .extracting(ClaimEnd.Released::ambiguous)
                .containsExactly(false);
        assertThat(rig.queue.requests()).as("until its claim is released").isEmpty();
        rig.deliveries().settle(delivery);

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
    }

    /** Its claim is under way while the listener gives up waiting. */
    @Test
    void keyThatIsAcquiredAfterItsDeliveryHasEndedIsReleasedAndItsLeaseNotRenewed() {
        List<Runnable> asked = new ArrayList<>();
        rig.storeThreads = asked::add;
        Delivery delivery = rig.receive();
        rig.pipeline().claim(List.of(attempt(delivery)));
        rig.storeThreads = Runnable::run;
        Thread.currentThread().interrupt();
        rig.deliveries().endStop(rig.orders);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(rig.store.releases()).isEmpty();

        asked.forEach(Runnable::run);

        assertThat(rig.store.releases())
                .containsExactly(
                        new ClaimEnd.Released(rig.store.claims().get(0).id(), FailedAttempt.NOT_CALLED, false));
        rig.tickFor(Duration.ofMinutes(1));
        assertThat(rig.store.renewals()).isEmpty();
    }

    /** Or its next consumer would find the key held, and wait. */
    @Test
    void messageWhoseClaimTheStopGivesUpIsVisibleOnlyOnceThatIsOnRecord() {
        Delivery delivery = rig.receive();
        Delivery attempt = attempt(delivery);
        rig.pipeline().claim(List.of(attempt));
        List<Runnable> asked = new ArrayList<>();
        rig.storeThreads = asked::add;

        rig.deliveries().beginStop(rig.orders);
        assertThat(rig.pipeline().admit(List.of(attempt))).isEmpty();

        assertThat(delivery.left()).isNotDone();
        assertThat(rig.queue.requests()).isEmpty();
        asked.forEach(Runnable::run);
        assertThat(delivery.left()).isCompleted();
        assertThat(rig.returns()).containsExactly(0);
    }

    /** The store answers between the handlers' last moment and the listener's end. */
    @Test
    void keyThatIsAcquiredAfterTheLastMomentIsReleased() {
        List<Runnable> asked = new ArrayList<>();
        rig.storeThreads = asked::add;
        rig.pipeline().claim(List.of(attempt(rig.receive())));
        rig.storeThreads = Runnable::run;
        Thread.currentThread().interrupt();
        rig.deliveries().interruptHandlers(rig.orders);
        assertThat(Thread.interrupted()).isTrue();
        asked.forEach(Runnable::run);
        assertThat(rig.store.releases()).isEmpty();

        rig.deliveries().endStop(rig.orders);

        assertThat(rig.store.releases()).singleElement().matches(release -> !release.ambiguous());
    }

    /** Until then it may be handled, as if nothing had happened. */
    @Test
    void claimedMessageOnItsLastReceiveIsGivenUpWhenItsListenerWaitsNoLonger() {
        Subscription oneReceive =
                new Subscription("listener", "one", rig.orders.window(), null, rig.queue, 1, PollGate.OPEN);
        rig.pipeline().claim(List.of(attempt(rig.receive(oneReceive, "last", 1))));

        rig.deliveries().beginStop(oneReceive);
        assertThat(rig.store.releases()).isEmpty();
        rig.deliveries().interruptHandlers(oneReceive);

        assertThat(rig.store.releases()).singleElement().matches(release -> !release.ambiguous());
        assertThat(rig.queue.changes()).containsExactly(new Change("last", 0));
    }

    @Test
    void messageThatMayComeOnceMoreIsVisibleAtOnceAlthoughItsQueueHasALastReceive() {
        Subscription twoReceives =
                new Subscription("listener", "two", rig.orders.window(), null, rig.queue, 2, PollGate.OPEN);
        rig.receive(twoReceives, "handle", 1);

        rig.deliveries().beginStop(twoReceives);

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
    }

    @Test
    void claimThatTheStopHasGivenUpIsNotGivenUpOnceMoreByTheThreadThatComesForIt() {
        Delivery attempt = attempt(rig.receive());
        rig.pipeline().claim(List.of(attempt));
        rig.deliveries().beginStop(rig.orders);

        assertThat(rig.pipeline().admit(List.of(attempt))).isEmpty();

        assertThat(rig.store.releases()).hasSize(1);
        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
    }

    private static Delivery attempt(Delivery delivery) {
        return DeliveryRig.asking(delivery, new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN));
    }

    @Test
    void handlerThatIsRunningGoesOnUnderRenewalAndItsMessageIsAcknowledged() throws Throwable {
        Delivery delivery = rig.receive();

        rig.process(delivery, claim -> {
            rig.deliveries().beginStop(rig.orders);
            rig.tickFor(Duration.ofSeconds(45));
            claim.ensureHeld();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            return null;
        });

        assertThat(rig.queue.changes()).hasSizeGreaterThan(2).allMatch(each -> each.seconds() == 30);
        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void handlerThatFailsDuringTheStopIsTriedAgainWithBackoff() {
        Delivery delivery = rig.receive();

        assertThatThrownBy(() -> rig.process(delivery, claim -> {
                    rig.deliveries().beginStop(rig.orders);
                    throw new IllegalStateException("no stock");
                }))
                .hasMessage("no stock");
        rig.deliveries().settle(delivery);

        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void messageWhoseKeyIsFoundHeldDuringTheStopDoesNotBeginToWait() throws Throwable {
        Delivery delivery = rig.receive();
        rig.store.onClaim(() -> {
            rig.deliveries().beginStop(rig.orders);
            return new HeldElsewhere(Duration.ofSeconds(10));
        });

        rig.process(delivery, DeliveryRig::neverCalled);
        rig.deliveries().settle(delivery);

        assertThat(rig.returns()).containsExactly(4);
        assertThat(rig.orders.levels().waiting()).hasValue(0);
    }

    @Test
    void waitThatBeginsWhileItsListenerStopsIsEndedAgain() throws Throwable {
        Subscription threeReceives =
                new Subscription("listener", "three", rig.orders.window(), null, rig.queue, 3, PollGate.OPEN);
        Delivery delivery = rig.receive(threeReceives, "handle", 2);
        rig.store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(10)));
        rig.process(delivery, DeliveryRig::neverCalled);
        rig.whenReceivesRunOut = () -> rig.deliveries().beginStop(threeReceives);

        rig.deliveries().settle(delivery);

        assertThat(rig.queue.changes()).hasSize(1);
        assertThat(rig.orders.levels().waiting()).hasValue(0);
    }

    @Test
    void waitingMessagesAreReturnedTogether() throws Throwable {
        for (Delivery delivery : receive(3)) {
            rig.store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(10)));
            rig.process(delivery, DeliveryRig::neverCalled);
            rig.deliveries().settle(delivery);
        }

        rig.deliveries().beginStop(rig.orders);

        assertThat(rig.queue.requests())
                .singleElement()
                .satisfies(changes -> assertThat(changes).hasSize(3));
        assertThat(rig.returns()).containsOnly(4);
    }

    @Test
    void messageWhoseRenewalIsUnderWayFollowsWhenThatIsAnswered() {
        List<List<Change>> requests = new ArrayList<>();
        CompletableFuture<Map<String, Result>> renewed = new CompletableFuture<>();
        Subscription parcels = rig.subscription("parcels", changes -> {
            requests.add(changes);
            return requests.size() == 1 ? renewed : CompletableFuture.completedFuture(Map.of());
        });
        rig.receive(parcels, "early", 1);
        rig.clock.advance(Duration.ofSeconds(15));
        rig.renewer.tick();
        rig.receive(parcels, "late", 1);

        rig.deliveries().beginStop(parcels);
        assertThat(requests).hasSize(2).last().isEqualTo(List.of(new Change("late", 0)));
        renewed.complete(Map.of("early", Result.CHANGED));

        assertThat(requests).hasSize(3).last().isEqualTo(List.of(new Change("early", 0)));
    }

    /** On a standard queue an old receipt handle would expose another consumer's message. */
    @Test
    void messageWhoseWindowIsOverIsLeftAlone() {
        rig.receive();
        rig.clock.advance(Duration.ofSeconds(31));

        rig.deliveries().beginStop(rig.orders);

        assertThat(rig.queue.requests()).isEmpty();
    }

    @Test
    void messageOnItsLastReceiveIsHandledRatherThanGivenUpUntried() throws Throwable {
        Subscription twoReceives =
                new Subscription("listener", "two", rig.orders.window(), null, rig.queue, 2, PollGate.OPEN);
        Delivery early = rig.receive(twoReceives, "early", 2);
        rig.deliveries().beginStop(twoReceives);
        Delivery late = rig.receive(twoReceives, "late", 2);
        Delivery unstarted = rig.receive(twoReceives, "unstarted", 2);

        for (Delivery delivery : List.of(early, late)) {
            rig.process(delivery, claim -> null);
            assertThat(rig.deliveries().settle(delivery)).isTrue();
        }
        assertThat(rig.queue.requests()).isEmpty();
        rig.deliveries().endStop(twoReceives);

        assertThat(rig.queue.changes()).containsExactly(new Change("unstarted", 0));
        assertNotBegun(unstarted);
    }

    @Test
    void completionThatIsUnansweredToTheEndIsNeitherReleasedNorExposed() throws Throwable {
        Delivery delivery = rig.receive();
        rig.store.onComplete(claims -> {
            rig.deliveries().beginStop(rig.orders);
            delivery.abandon();
            throw new IllegalStateException("connection refused");
        });

        rig.process(delivery, claim -> null);
        rig.deliveries().endStop(rig.orders);

        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.renewer.inFlight()).isZero();
    }

    /** Its pipeline has no thread any more to do it. */
    /** It does not heed the stop: its effect has happened, whatever its listener thinks of it. */
    @Test
    void handlerThatEndsAfterItsListenerIsCompletedAllTheSame() throws Throwable {
        rig.process(rig.receive(), claim -> {
            rig.deliveries().endStop(rig.orders);
            Thread.interrupted();
            return "shipped";
        });

        assertThat(rig.store.completions())
                .extracting(ClaimEnd.Completed::result)
                .containsExactly("\"shipped\"");
    }

    @Test
    void completedDeliveryThatHasNotLeftItsPipelineIsDeletedBeforeTheLastDeletesAreSent() throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(delivery, claim -> null);

        rig.deliveries().interruptHandlers(rig.orders);

        assertThat(rig.deleted).containsExactly(delivery);
        assertThat(rig.deliveries().settle(delivery)).isFalse();
    }

    @Test
    void deletesThatCannotBeBegunDoNotKeepTheListenerFromStopping() throws Throwable {
        Delivery delivery = rig.receive();
        delivery.deleteBy(() -> {
            throw new IllegalStateException("connection pool shut down");
        });
        rig.process(delivery, claim -> null);

        rig.deliveries().endStop(rig.orders);

        assertThat(rig.renewer.inFlight()).isZero();
    }

    @Test
    void messageIsRenewedWhileItsDeleteIsUnconfirmedUntilTheEnd() throws Throwable {
        Delivery delivery = rig.receive();
        rig.process(delivery, claim -> null);
        rig.deliveries().settle(delivery);

        rig.deliveries().beginStop(rig.orders);
        rig.deliveries().interruptHandlers(rig.orders);
        rig.tickFor(Duration.ofSeconds(16));
        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 30));
        rig.deliveries().endStop(rig.orders);
        rig.tickFor(Duration.ofSeconds(16));

        assertThat(rig.queue.requests()).hasSize(1);
        assertThat(rig.deleted).isEmpty();
    }

    @Test
    void secondStopDoesNothing() {
        rig.receive();
        rig.deliveries().beginStop(rig.orders);
        rig.deliveries().endStop(rig.orders);

        rig.deliveries().beginStop(rig.orders);
        rig.deliveries().endStop(rig.orders);

        assertThat(rig.queue.requests()).hasSize(1);
    }

    @Test
    void listenerThatIsStartedAgainIsNotStopped() throws Throwable {
        rig.deliveries().beginStop(rig.orders);
        rig.deliveries().endStop(rig.orders);
        Subscription again = rig.subscription("orders", changes -> CompletableFuture.completedFuture(Map.of()));

        Delivery delivery = rig.receive(again, "handle", 1);
        rig.process(delivery, claim -> null);

        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void batchThatIsClaimedAfterTheStopIsGivenBackAndVisibleAtOnce() {
        List<Delivery> batch = receive(2);
        rig.store.onClaim(() -> {
            rig.deliveries().beginStop(rig.orders);
            return new Acquired(1, 1, false);
        });

        assertThatThrownBy(() -> rig.process(items(batch), acquired -> {
                    throw new AssertionError("The handler was called");
                }))
                .isInstanceOf(ClaimLostException.class);
        batch.forEach(rig.deliveries()::settle);

        assertThat(rig.store.releases()).hasSize(2).noneMatch(ClaimEnd.Released::ambiguous);
        assertThat(rig.returns()).containsExactly(0, 0);
    }

    @Test
    void messageThatWasReturnedKeepsBackTheRestOfItsGroupWhichTheStopHasNotComeToYet() throws Throwable {
        List<Delivery> batch = receive(2);
        assertThat(batch.get(0).holdBack()).isTrue();

        rig.process(items(batch, "group"), acquired -> {
            throw new AssertionError("The handler was called");
        });

        assertThat(rig.store.releases()).hasSize(1).noneMatch(ClaimEnd.Released::ambiguous);
        assertThat(rig.deliveries().settle(batch.get(1))).isFalse();
    }

    /**
     * Each message looks at the clock before its handler is called, so that the stop comes once at each of those moments, the last
     * one before the call included.
     */
    @Test
    void stopAtAnyMomentLeavesNoClaimOfAGroupToItsLeaseAndKeepsItsOrder() throws Throwable {
        int moment = 0;
        while (stopsInTime(moment)) {
            moment++;
        }
        assertThat(moment).isPositive();
    }

    /** Of a group whose later message is on its last receive, so that its claim is not given up by the stop itself. */
    private static boolean stopsInTime(int moment) throws Throwable {
        DeliveryRig rig = new DeliveryRig();
        Subscription orders = new Subscription(
                "listener", "orders.fifo", new VisibilityWindow(DeliveryRig.WINDOW), null, rig.queue, 3, PollGate.OPEN);
        List<Delivery> group = items(List.of(rig.receive(orders, "first", 1), rig.receive(orders, "last", 3)), "group");
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
            // Says that the stop was faster.
        }

        assertThat(handled).as("handled, stopped at look %d", moment).isEqualTo(group.subList(0, handled.size()));
        assertThat(Stream.concat(
                        rig.store.completions().stream().map(ClaimEnd.Completed::claim),
                        rig.store.releases().stream().map(ClaimEnd.Released::claim)))
                .as("ended, stopped at look %d", moment)
                .containsExactlyInAnyOrderElementsOf(
                        rig.store.claims().stream().map(ClaimRequest::id).toList());
        return looks.get() < 0;
    }

    @Test
    void batchThatIsRunningGoesOn() throws Throwable {
        List<Delivery> batch = receive(2);

        rig.process(items(batch), acquired -> {
            rig.deliveries().beginStop(rig.orders);
            acquired.forEach(item -> item.claim().ensureHeld());
        });

        assertThat(batch).allMatch(rig.deliveries()::settle);
        assertThat(rig.queue.requests()).isEmpty();
    }

    @Test
    void transactionThatIsBegunAfterTheStopIsRolledBackAndItsMessageVisibleAtOnce() {
        Delivery delivery = rig.receive();
        ClaimSpec handling =
                new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN, DeliveryRig.single((request, work) -> {
                    rig.deliveries().beginStop(rig.orders);
                    work.run(new Acquired(1, 1, false));
                    return new Acquired(1, 1, false);
                }));

        assertThatThrownBy(() -> rig.process(delivery, handling, DeliveryRig::neverCalled))
                .isInstanceOf(ClaimLostException.class);
        rig.deliveries().settle(delivery);

        assertThat(rig.returns()).containsExactly(0);
    }

    @Test
    void transactionThatIsRunningGoesOnAndItsClaimIsHeld() throws Throwable {
        Delivery delivery = rig.receive();
        ClaimSpec handling =
                new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN, DeliveryRig.single((request, work) -> {
                    work.run(new Acquired(1, 1, false));
                    return new Acquired(1, 1, false);
                }));

        rig.process(delivery, handling, claim -> {
            rig.deliveries().beginStop(rig.orders);
            claim.ensureHeld();
            return null;
        });

        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void futureOfAnAsynchronousHandlerGoesOnUntilItIsCancelledOnceWhenTheTimeIsOver() throws Throwable {
        Delivery delivery = rig.receive();
        CompletableFuture<Object> work = new CompletableFuture<>();
        Object recorded = DeliveryRig.process(
                rig.pipeline(),
                List.of(DeliveryRig.asking(delivery, new ClaimSpec(DeliveryRig.KEY, null, InDoubtPolicy.RERUN))),
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

    private static List<Delivery> items(List<Delivery> batch) {
        return items(batch, "");
    }

    private static List<Delivery> items(List<Delivery> batch, String group) {
        List<Delivery> items = new ArrayList<>();
        for (Delivery delivery : batch) {
            ClaimKey key = new ClaimKey("orders", delivery.receiptHandle());
            items.add(DeliveryRig.asking(delivery, group, new ClaimSpec(key, null, InDoubtPolicy.RERUN)));
        }
        return items;
    }
}
