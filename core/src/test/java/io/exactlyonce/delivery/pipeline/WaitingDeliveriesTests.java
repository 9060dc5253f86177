package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.KeyState.Status;
import io.exactlyonce.delivery.Attempt;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.fingerprint.Content;
import io.exactlyonce.queue.QueueVisibility.Change;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Deliveries that wait for the owner of their key. Each tick looks up the keys, and ends the waits that can end. */
@ExtendWith(OutputCaptureExtension.class)
class WaitingDeliveriesTests {

    private static final ClaimKey OTHER_KEY = new ClaimKey("orders", "B-2");

    private static final String BODY = "4242 4242 4242 4242";
    private static final KeyState OTHER_PAYLOAD = KeyState.completed(ClaimKey.sha256("another body"));

    private DeliveryRig rig = new DeliveryRig();

    private Delivery waitFor(ClaimKey key, String handle, int receiveCount) throws Throwable {
        return waitFor(key, null, rig.receive(rig.orders, handle, receiveCount));
    }

    private Delivery waitForKey() throws Throwable {
        return waitFor(DeliveryRig.KEY, "handle", 1);
    }

    private Delivery waitWith(String body, String handle) throws Throwable {
        return waitFor(DeliveryRig.KEY, body, rig.receive(rig.orders, handle, 1));
    }

    private Delivery waitFor(ClaimKey key, @Nullable String body, Delivery delivery) throws Throwable {
        Content content = body == null ? null : Content.ofBody(body);
        rig.store.answer(new HeldElsewhere(Duration.ofSeconds(20)));
        rig.process(delivery, new ClaimSpec(key, content, InDoubtSettings.RERUN), DeliveryRig::neverCalled);
        rig.settle(delivery);
        return delivery;
    }

    /** Reports enough claims without an answer to pause all listeners. */
    private void pause() {
        for (int failure = 0; failure < CircuitBreaker.FAILURES; failure++) {
            rig.breaker.unanswered(new IllegalStateException("connection refused"));
        }
    }

    /** Sets the state of the key, and looks up all keys. */
    private void look(KeyState state) {
        rig.store.putState(DeliveryRig.KEY, state);
        rig.waiting().tick();
    }

    private void assertNoneWaits() {
        assertThat(rig.orders.levels().waiting()).hasValue(0);
    }

    /** Lets time pass. Renewals and lookups run every quarter of a second. */
    private void pass(Duration duration) {
        for (long quarter = duration.toMillis() / 250; quarter > 0; quarter--) {
            rig.clock.advance(Duration.ofMillis(250));
            rig.renewer.tick();
            rig.waiting().tick();
        }
    }

    @Test
    void lookupsThatFailComeLessAndLessOftenAndDeliveriesContinueToWait() throws Throwable {
        waitForKey();
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);
        rig.store.failLooks(true);

        pass(Duration.ofSeconds(60));

        assertThat(rig.store.looks()).hasSizeBetween(15, 20);
        assertThat(rig.queue.changes()).containsOnly(new Change("handle", 30));
        rig.store.failLooks(false);
        pass(Duration.ofSeconds(4));
        assertThat(rig.queue.changes()).last().isEqualTo(new Change("handle", 0));
    }

    /**
     * The key is free, but claims get no answer, so the delivery waits. A listener whose polls are paused has no other
     * delivery with which to test the store. So the delivery is returned when a trial poll is due.
     */
    @Test
    void deliveryWhoseKeyIsFreeWhileClaimsGetNoAnswerWaitsOnUntilAPollOnTrialIsDue() throws Throwable {
        waitForKey();
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);
        pause();

        rig.waiting().tick();
        assertThat(rig.queue.requests()).isEmpty();
        pass(Duration.ofSeconds(2));

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
        assertNoneWaits();
    }

    @Test
    void waitingDeliveryStaysInvisibleHoweverLongTheOwnerWorks() throws Throwable {
        waitForKey();

        pass(DeliveryRig.WINDOW.multipliedBy(4));

        assertThat(rig.queue.changes()).hasSizeBetween(7, 8).containsOnly(new Change("handle", 30));
        assertThat(rig.deleted).isEmpty();
        assertThat(rig.orders.levels().waiting()).hasValue(1);
        assertThat(rig.store.renewals()).isEmpty();
    }

    @Test
    void oneLookupIsForTheKeysOfAll() throws Throwable {
        waitFor(DeliveryRig.KEY, "one", 1);
        waitFor(DeliveryRig.KEY, "two", 1);
        waitFor(OTHER_KEY, "three", 1);

        rig.waiting().tick();

        assertThat(rig.store.looks()).containsExactly(Set.of(DeliveryRig.KEY, OTHER_KEY));
    }

    @Test
    void duplicateIsDeletedWithTheFirstLookupAfterTheCompletion() throws Throwable {
        Delivery duplicate = waitForKey();
        rig.waiting().tick();
        look(KeyState.completed(null));
        rig.waiting().tick();

        assertThat(rig.deleted).containsExactly(duplicate);
        assertNoneWaits();
        assertThat(rig.renewer.renewedCount())
                .as("renewed until the delete is confirmed")
                .isOne();
        rig.deliveries().acknowledging(duplicate);
        rig.deliveries().acknowledged(duplicate);
        pass(Duration.ofSeconds(20));
        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.renewer.renewedCount()).isZero();
        assertThat(rig.store.looks()).hasSize(2);
    }

    /**
     * A sender chooses the length of the content and how long the key is held. Content that is kept during the wait
     * could fill the memory.
     */
    @Test
    void waitKeepsNothingOfTheContent() throws Throwable {
        Delivery duplicate = rig.receive(rig.orders, "handle", 1);
        AtomicBoolean isForgotten = new AtomicBoolean();
        duplicate.attempt().carries(new Attempt.SentContent() {
            @Override
            public String header(String name) {
                return BODY;
            }

            @Override
            public void forget() {
                isForgotten.set(true);
            }
        });

        waitFor(DeliveryRig.KEY, BODY, duplicate);

        assertThat(isForgotten).isTrue();
        assertThat(duplicate.attempt().sent("traceparent")).isNull();
        assertThat(duplicate.attempt().spec().content()).isNull();
        assertThat(duplicate.attempt().spec().key()).isEqualTo(DeliveryRig.KEY);
    }

    @Test
    void completionForAnotherPayloadRefusesTheWaiter(CapturedOutput output) throws Throwable {
        waitFor(DeliveryRig.KEY, BODY, rig.receive(rig.orders, "handle", 2));
        look(OTHER_PAYLOAD);

        assertThat(rig.deleted).isEmpty();
        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 8));
        assertThat(rig.outcomes).last().isEqualTo(new Mismatch(null));
        assertNoneWaits();
        assertThat(output)
                .contains("ERROR", DeliveryRig.KEY + " is completed with other content")
                .doesNotContain(BODY, ClaimKey.sha256(BODY));
    }

    @Test
    void eachOfOneKeysWaitersIsComparedByItsOwnPayloadWithoutAClaim() throws Throwable {
        Delivery same = waitWith(BODY, "same");
        waitWith("another body", "other");
        look(KeyState.completed(ClaimKey.sha256(BODY)));

        assertThat(rig.deleted).containsExactly(same);
        assertThat(rig.returns()).containsExactly(4);
        assertThat(rig.store.claims()).hasSize(2);
    }

    @Test
    void deliveryIsVisibleWithTheFirstLookupAfterItsKeyIsFree() throws Throwable {
        waitFor(DeliveryRig.KEY, "handle", 3);
        rig.waiting().tick();
        look(KeyState.FREE);
        pass(Duration.ofSeconds(20));

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
        assertThat(rig.renewer.renewedCount()).isZero();
        assertNoneWaits();
    }

    @Test
    void ofDeliveriesThatWaitForOneKeyOneGoesFirst() throws Throwable {
        waitFor(DeliveryRig.KEY, "one", 1);
        waitFor(DeliveryRig.KEY, "two", 1);
        look(KeyState.FREE);
        assertThat(rig.returns()).containsExactly(0);
        look(KeyState.HELD);
        assertThat(rig.returns()).containsExactly(0);
        look(KeyState.completed(null));

        assertThat(rig.returns()).containsExactly(0);
        assertThat(rig.deleted).hasSize(1);
    }

    @Test
    void parkedKeysDeliveryIsReturnedWithBackoff(CapturedOutput output) throws Throwable {
        waitFor(DeliveryRig.KEY, "handle", 3);
        look(KeyState.PARKED);

        assertThat(rig.returns()).containsExactly(16);
        assertThat(rig.deleted).isEmpty();
        assertThat(output).containsOnlyOnce("is parked until an operator decides");
    }

    /** The second delivery finds the key held after the lookup found the key free, so the lookup is out of date. */
    @Test
    void deliveryThatBeginsToWaitDuringALookupIsNotDecidedByIt() throws Throwable {
        waitFor(DeliveryRig.KEY, "one", 1);
        Delivery two = rig.receive(rig.orders, "two", 1);
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);
        rig.store.duringLook(() -> assertThat(catchThrowable(() -> waitFor(DeliveryRig.KEY, null, two)))
                .isNull());

        rig.waiting().tick();

        assertThat(rig.queue.changes()).containsExactly(new Change("one", 0));
    }

    @ParameterizedTest
    @EnumSource(names = "HELD", mode = Mode.EXCLUDE)
    void deliveryThatWasReturnedDuringALookupIsNotTouchedByItsAnswer(Status status) throws Throwable {
        waitForKey();
        rig.store.putState(DeliveryRig.KEY, new KeyState(status, null));
        rig.store.duringLook(() -> rig.deliveries().beginStop(rig.orders));

        rig.waiting().tick();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 4));
        assertThat(rig.deleted).isEmpty();
        assertThat(rig.outcomes).as("told of its refused claim only").hasSize(1);
        assertNoneWaits();
    }

    @Test
    void duplicateWhoseListenerEndsWhileItsWaitDoesIsNotDeleted() throws Throwable {
        Delivery duplicate = waitForKey();
        rig.store.putState(DeliveryRig.KEY, KeyState.completed(null));
        rig.whenClaimed = () -> rig.deliveries().endStop(rig.orders);

        rig.waiting().tick();

        assertThat(duplicate.state()).isEqualTo(DeliveryState.ABANDONED);
        assertThat(rig.deleted).isEmpty();
        assertThat(rig.queue.requests()).isEmpty();
    }

    /**
     * Trap: on a standard queue, a change with the old receipt handle would make the message's next delivery visible.
     */
    @ParameterizedTest
    @EnumSource(names = "HELD", mode = Mode.EXCLUDE)
    void deliveryWhoseVisibilityTimeoutEndedInAPauseIsOnlyDropped(Status status) throws Throwable {
        waitForKey();
        rig.store.putState(DeliveryRig.KEY, new KeyState(status, null));

        rig.clock.advance(DeliveryRig.WINDOW);
        rig.waiting().tick();
        pass(Duration.ofSeconds(60));

        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.deleted).isEmpty();
        assertThat(rig.renewer.renewedCount()).isZero();
        assertNoneWaits();
        assertThat(rig.store.looks()).isEmpty();
    }

    @Test
    void waitersAreBoundedAndRoomIsReleased() throws Throwable {
        rig = new DeliveryRig(1);
        waitFor(DeliveryRig.KEY, "one", 1);
        waitFor(OTHER_KEY, "two", 2);
        assertThat(rig.queue.changes()).containsExactly(new Change("two", 20));

        look(KeyState.completed(null));
        waitFor(OTHER_KEY, "three", 1);

        assertThat(rig.queue.changes()).hasSize(1);
        assertThat(rig.orders.levels().waiting()).hasValue(1);
    }

    @Test
    void waitersOfAllQueuesShareTheBound() throws Throwable {
        rig = new DeliveryRig(1);
        Subscription parcels = rig.subscription("parcels", rig.queue);

        waitFor(DeliveryRig.KEY, "one", 1);
        waitFor(OTHER_KEY, null, rig.receive(parcels, "parcel", 2));

        assertThat(rig.queue.changes()).containsExactly(new Change("parcel", 20));
        assertThat(parcels.levels().waiting()).hasValue(0);
    }

    @Test
    void stoppingListenersWaitersAreReturnedWithBackoffAndOthersWaitOn() throws Throwable {
        Subscription parcels = rig.subscription("parcels", rig.queue);
        waitFor(DeliveryRig.KEY, "order", 2);
        waitFor(OTHER_KEY, null, rig.receive(parcels, "parcel", 1));

        rig.deliveries().endStop(rig.orders);
        pass(Duration.ofSeconds(15));

        assertThat(rig.queue.changes()).containsExactly(new Change("order", 8), new Change("parcel", 30));
        assertThat(rig.renewer.renewedCount()).isOne();
    }

    @Test
    void stoppingListenersDeliveryDoesNotBeginToWait() throws Throwable {
        Delivery late = rig.receive();
        rig.store.answer(new HeldElsewhere(Duration.ofSeconds(20)));
        rig.process(late, DeliveryRig::neverCalled);

        rig.deliveries().settleWhileStopping(late);

        assertThat(rig.returns()).containsExactly(4);
        assertNoneWaits();
    }

    /**
     * The message returns after the backoff, and not after the rest of the owner's lease, because another consumer may
     * have room to wait for the key.
     */
    @Test
    void stoppingListenersDeliveryIsReturnedWithBackoffAlsoWhereThereIsNoRoom() throws Throwable {
        rig = new DeliveryRig(0);
        Delivery late = rig.receive();
        rig.store.onClaim(() -> {
            rig.deliveries().beginStop(rig.orders);
            return new HeldElsewhere(Duration.ofSeconds(20));
        });
        rig.process(late, DeliveryRig::neverCalled);

        rig.settle(late);

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 4));
    }

    @ParameterizedTest
    @CsvSource({"3, 0", "4, 1", "5, 1"})
    void lastReceivesBeforeTheDeadLetterQueueAreLoggedOnceAMinute(int receiveCount, int warnings, CapturedOutput output)
            throws Throwable {
        Subscription fiveReceives = rig.receiving(5);
        waitFor(DeliveryRig.KEY, null, rig.receive(fiveReceives, "one", receiveCount));
        waitFor(DeliveryRig.KEY, null, rig.receive(fiveReceives, "two", receiveCount));

        assertThat(rig.finalReceives).hasSize(2 * warnings);
        assertThat(output.getOut().split("Raise maxReceiveCount", -1)).hasSize(warnings + 1);
        rig.clock.advance(Duration.ofMinutes(1));
        waitFor(DeliveryRig.KEY, null, rig.receive(fiveReceives, "three", receiveCount));
        assertThat(output.getOut().split("Raise maxReceiveCount", -1)).hasSize(2 * warnings + 1);
    }
}
