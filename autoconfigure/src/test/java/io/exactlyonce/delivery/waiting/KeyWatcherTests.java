package io.exactlyonce.delivery.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.MismatchPolicy;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Deliveries that wait for the holder of their key. */
@ExtendWith(OutputCaptureExtension.class)
class KeyWatcherTests {

    private static final ClaimKey OTHER_KEY = new ClaimKey("orders", "B-2");

    private static final String BODY = "4242 4242 4242 4242";

    private DeliveryRig rig = new DeliveryRig();

    private Delivery waitFor(ClaimKey key, Delivery delivery) throws Throwable {
        rig.store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(20)));
        rig.process(delivery, new ClaimSpec(key, null, InDoubtPolicy.RERUN), DeliveryRig::neverCalled);
        rig.deliveries.settle(delivery);
        return delivery;
    }

    private Delivery waitWithBody(String handle) throws Throwable {
        return waitWithBody(rig.receive(rig.orders, handle, 1));
    }

    private Delivery waitWithBody(Delivery delivery) throws Throwable {
        rig.store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(20)));
        rig.process(delivery, new ClaimSpec(DeliveryRig.KEY, BODY, InDoubtPolicy.RERUN), DeliveryRig::neverCalled);
        rig.deliveries.settle(delivery);
        return delivery;
    }

    private Delivery waitFor(ClaimKey key, String handle, int receiveCount) throws Throwable {
        return waitFor(key, rig.receive(rig.orders, handle, receiveCount));
    }

    /** Lets time pass as the two clockworks do: renewals each second, a look each quarter of it. */
    private void pass(Duration duration) {
        for (long quarter = duration.toMillis() / 250; quarter > 0; quarter--) {
            rig.clock.advance(Duration.ofMillis(250));
            rig.supervisor.tick();
            rig.watch.tick();
        }
    }

    @Test
    void noLookIsTakenWhenNoDeliveryWaits() throws Throwable {
        Delivery handled = rig.receive();
        rig.process(handled, claim -> null);
        rig.deliveries.settle(handled);

        pass(Duration.ofSeconds(10));

        assertThat(rig.store.looks()).isEmpty();
    }

    @Test
    void waitingDeliveryStaysInvisibleHoweverLongTheHolderWorks() throws Throwable {
        waitFor(DeliveryRig.KEY, "handle", 1);

        pass(DeliveryRig.WINDOW.multipliedBy(4));

        assertThat(rig.queue.changes()).hasSizeBetween(7, 8).containsOnly(new Change("handle", 30));
        assertThat(rig.deleted).isEmpty();
        assertThat(rig.waiting).containsExactly(1);
        assertThat(rig.store.renewals()).isEmpty();
    }

    /** It was completed when the watcher looked, and decided on anew when it claimed. */
    @Test
    void waiterWhoseKeyIsHeldAgainWhenItsPayloadIsToBeComparedWaitsOn() throws Throwable {
        waitWithBody("handle");
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);
        rig.store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(20)));

        rig.watch.tick();
        assertThat(rig.deleted).isEmpty();
        assertThat(rig.returns()).isEmpty();

        rig.store.onClaim(() -> new AlreadyCompleted(null));
        rig.watch.tick();
        assertThat(rig.deleted).hasSize(1);
    }

    @Test
    void oneLookIsForTheKeysOfAll() throws Throwable {
        waitFor(DeliveryRig.KEY, "one", 1);
        waitFor(DeliveryRig.KEY, "two", 1);
        waitFor(OTHER_KEY, "three", 1);

        rig.watch.tick();

        assertThat(rig.store.looks()).containsExactly(Set.of(DeliveryRig.KEY, OTHER_KEY));
    }

    @Test
    void duplicateIsDeletedWithTheFirstLookAfterTheCompletion() throws Throwable {
        Delivery duplicate = waitFor(DeliveryRig.KEY, "handle", 1);
        rig.watch.tick();
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);

        rig.watch.tick();
        rig.watch.tick();

        assertThat(rig.deleted).containsExactly(duplicate);
        assertThat(rig.waiting).containsExactly(1, 0);
        assertThat(rig.supervisor.inFlight())
                .as("renewed until the delete is confirmed")
                .isOne();
        rig.deliveries.acknowledging(duplicate);
        rig.deliveries.acknowledged(duplicate);
        pass(Duration.ofSeconds(20));
        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.supervisor.inFlight()).isZero();
        assertThat(rig.store.looks()).hasSize(2);
    }

    @Test
    void completionForAnotherPayloadRefusesTheWaiter(CapturedOutput output) throws Throwable {
        waitWithBody(rig.receive(rig.orders, "handle", 2));
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);
        rig.store.onClaim(() -> new Mismatch("1"));

        rig.watch.tick();

        assertThat(rig.deleted).isEmpty();
        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 8));
        assertThat(rig.outcomes).last().isEqualTo(new Mismatch("1"));
        assertThat(rig.waiting).containsExactly(1, 0);
        assertThat(output)
                .contains("ERROR", DeliveryRig.KEY.toString(), ClaimKey.sha256(BODY))
                .doesNotContain(BODY);
    }

    @Test
    void completionForAnotherPayloadDeletesTheWaiterWithAWarningIfThatIsWanted(CapturedOutput output) throws Throwable {
        rig = new DeliveryRig().onMismatch(MismatchPolicy.WARN);
        Delivery mismatch = waitWithBody("handle");
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);
        rig.store.onClaim(() -> new Mismatch(null));

        rig.watch.tick();

        assertThat(rig.deleted).containsExactly(mismatch);
        assertThat(rig.queue.requests()).isEmpty();
        assertThat(output).contains("WARN", ClaimKey.sha256(BODY)).doesNotContain("ERROR");
    }

    @Test
    void eachOfOneKeysWaitersIsComparedByItsOwnPayloadInOneCall() throws Throwable {
        Delivery same = waitWithBody("same");
        waitWithBody("other");
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);
        answerByHandle(same);
        int earlier = rig.store.claimCalls();

        rig.watch.tick();

        assertThat(rig.deleted).containsExactly(same);
        assertThat(rig.returns()).containsExactly(4);
        assertThat(rig.store.claimCalls()).isEqualTo(earlier + 1);
        assertThat(rig.store.claims())
                .hasSize(4)
                .doesNotHaveDuplicates()
                .extracting(ClaimRequest::fingerprint)
                .containsOnly(ClaimKey.sha256(BODY));
        assertThat(rig.store.claims()).extracting(ClaimRequest::claimId).doesNotHaveDuplicates();
    }

    /** Waiters have no order. */
    private void answerByHandle(Delivery same) {
        for (WaitingDelivery waiter : rig.deliveries.waiters().all()) {
            boolean matches = waiter.delivery() == same;
            rig.store.onClaim(() -> matches ? new AlreadyCompleted(null) : new Mismatch(null));
        }
    }

    @Test
    void waiterWithoutAPayloadIsDeletedWithoutAClaim() throws Throwable {
        rig = new DeliveryRig().onMismatch(MismatchPolicy.OFF);
        Delivery duplicate = waitWithBody("handle");
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);

        rig.watch.tick();

        assertThat(rig.deleted).containsExactly(duplicate);
        assertThat(rig.store.claims()).hasSize(1);
    }

    @Test
    void claimWithoutAnAnswerLeavesWaitersWaitingUntilOneComes() throws Throwable {
        Delivery duplicate = waitWithBody("handle");
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);
        rig.store.onClaim(() -> {
            throw new IllegalStateException("connection refused");
        });
        rig.store.onClaim(() -> new AlreadyCompleted(null));

        rig.watch.tick();
        rig.watch.tick();
        assertThat(rig.waiting).containsExactly(1);
        assertThat(rig.deleted).isEmpty();
        assertThat(rig.store.looks()).hasSize(1);
        rig.clock.advance(KeyWatcher.INTERVAL);
        rig.watch.tick();

        assertThat(rig.deleted).containsExactly(duplicate);
        assertThat(rig.queue.requests()).isEmpty();
    }

    /** Retention has deleted the completed row between look and claim. */
    @Test
    void keyThatIsAcquiredAfterAllIsGivenBackAndTheDeliveryIsVisible() throws Throwable {
        waitWithBody("handle");
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);
        rig.store.onClaim(() -> new Acquired(1, 1, true));

        rig.watch.tick();

        ClaimRequest asked = rig.store.claims().get(1);
        assertThat(rig.store.releases())
                .containsExactly(new ClaimEnd.Released(asked.id(), "the message is to be received first", true));
        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
        assertThat(rig.deleted).isEmpty();
    }

    @Test
    void keyThatIsHeldAgainAfterTheLookIsWaitedForAndAParkedOneReturned() throws Throwable {
        waitWithBody("handle");
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);
        rig.store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(20)));
        rig.store.onClaim(Parked::new);

        rig.watch.tick();
        assertThat(rig.waiting).containsExactly(1);
        rig.watch.tick();

        assertThat(rig.returns()).containsExactly(4);
        assertThat(rig.deleted).isEmpty();
    }

    @Test
    void deliveryThatWasReturnedDuringTheClaimIsNotTouchedByItsAnswer() throws Throwable {
        waitWithBody("handle");
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);
        rig.store.onClaim(() -> {
            rig.deliveries.stop(rig.orders).begin();
            return new AlreadyCompleted(null);
        });

        rig.watch.tick();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 4));
        assertThat(rig.deleted).isEmpty();
    }

    @Test
    void deleteThatCannotBeAskedForEndsRenewals() throws Throwable {
        Delivery duplicate = waitFor(DeliveryRig.KEY, "handle", 1);
        duplicate.deleteBy(() -> {
            throw new IllegalStateException("the processor has ended");
        });
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);

        rig.watch.tick();

        assertThat(rig.supervisor.inFlight()).isZero();
    }

    @Test
    void deliveryIsVisibleWithTheFirstLookAfterItsKeyIsFree() throws Throwable {
        waitFor(DeliveryRig.KEY, "handle", 3);
        rig.watch.tick();
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);

        rig.watch.tick();
        pass(Duration.ofSeconds(20));

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
        assertThat(rig.supervisor.inFlight()).isZero();
        assertThat(rig.waiting).containsExactly(1, 0);
    }

    @Test
    void ofDeliveriesThatWaitForOneKeyOneGoesFirst() throws Throwable {
        waitFor(DeliveryRig.KEY, "one", 1);
        waitFor(DeliveryRig.KEY, "two", 1);
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);

        rig.watch.tick();
        assertThat(rig.returns()).containsExactly(0);
        rig.store.putState(DeliveryRig.KEY, KeyState.HELD);
        rig.watch.tick();
        assertThat(rig.returns()).containsExactly(0);
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);
        rig.watch.tick();

        assertThat(rig.returns()).containsExactly(0);
        assertThat(rig.deleted).hasSize(1);
    }

    @Test
    void allThatWaitForACompletedKeyAreDeletedWithOneLook() throws Throwable {
        waitFor(DeliveryRig.KEY, "one", 1);
        waitFor(DeliveryRig.KEY, "two", 1);
        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);

        rig.watch.tick();

        assertThat(rig.deleted).hasSize(2);
    }

    /** Only a completed key has a payload to compare with. */
    @Test
    void waiterWithAPayloadIsVisibleWithoutAClaimWhenItsKeyIsFree() throws Throwable {
        waitWithBody("handle");
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);

        rig.watch.tick();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 0));
        assertThat(rig.store.claims()).hasSize(1);
    }

    @Test
    void parkedKeysDeliveryIsReturnedWithBackoff() throws Throwable {
        waitFor(DeliveryRig.KEY, "handle", 3);
        rig.store.putState(DeliveryRig.KEY, KeyState.PARKED);

        rig.watch.tick();

        assertThat(rig.returns()).containsExactly(16);
        assertThat(rig.deleted).isEmpty();
    }

    /** Its claim was answered after the look's: that it is held is newer than that it was free. */
    @Test
    void whoBeginsToWaitDuringALookIsNotJudgedByIt() throws Throwable {
        waitFor(DeliveryRig.KEY, "one", 1);
        Delivery two = rig.receive(rig.orders, "two", 1);
        rig.store.putState(DeliveryRig.KEY, KeyState.FREE);
        rig.store.duringLook(() -> {
            try {
                waitFor(DeliveryRig.KEY, two);
            } catch (Throwable failure) {
                throw new AssertionError(failure);
            }
        });

        rig.watch.tick();

        assertThat(rig.queue.changes()).containsExactly(new Change("one", 0));
    }

    @ParameterizedTest
    @CsvSource({"FREE", "COMPLETED", "PARKED"})
    void deliveryThatWasReturnedDuringALookIsNotTouchedByItsAnswer(KeyState state) throws Throwable {
        waitFor(DeliveryRig.KEY, "handle", 1);
        rig.store.putState(DeliveryRig.KEY, state);
        rig.store.duringLook(() -> rig.deliveries.stop(rig.orders).begin());

        rig.watch.tick();

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 4));
        assertThat(rig.deleted).isEmpty();
    }

    /** A9: on a standard queue, the old handle would expose the message's next delivery. */
    @ParameterizedTest
    @CsvSource({"FREE", "COMPLETED", "PARKED"})
    void deliveryWhoseWindowEndedInAPauseIsOnlyDropped(KeyState state) throws Throwable {
        waitFor(DeliveryRig.KEY, "handle", 1);
        rig.store.putState(DeliveryRig.KEY, state);

        rig.clock.advance(DeliveryRig.WINDOW);
        rig.watch.tick();
        pass(Duration.ofSeconds(60));

        assertThat(rig.queue.requests()).isEmpty();
        assertThat(rig.deleted).isEmpty();
        assertThat(rig.supervisor.inFlight()).isZero();
        assertThat(rig.waiting).containsExactly(1, 0);
        assertThat(rig.store.looks()).isEmpty();
    }

    @Test
    void deliveryThatReachesTheCeilingIsDroppedSinceSqsMakesItVisibleItself() throws Throwable {
        waitFor(DeliveryRig.KEY, "handle", 1);

        for (int second = 0; second < Duration.ofHours(12).toSeconds() + 1; second++) {
            rig.clock.advance(Duration.ofSeconds(1));
            rig.supervisor.tick();
            rig.watch.tick();
        }

        assertThat(rig.supervisor.inFlight()).isZero();
        assertThat(rig.queue.changes())
                .extracting(Change::seconds)
                .doesNotContain(0)
                .last()
                .isNotEqualTo(30);
        assertThat(rig.waiting).containsExactly(1, 0);
    }

    @Test
    void waitersAreBoundedAndRoomIsGivenBack() throws Throwable {
        rig = new DeliveryRig(1);
        waitFor(DeliveryRig.KEY, "one", 1);
        waitFor(OTHER_KEY, "two", 2);
        assertThat(rig.queue.changes()).containsExactly(new Change("two", 20));

        rig.store.putState(DeliveryRig.KEY, KeyState.COMPLETED);
        rig.watch.tick();
        waitFor(OTHER_KEY, "three", 1);

        assertThat(rig.queue.changes()).hasSize(1);
        assertThat(rig.waiting).containsExactly(1, 0, 1);
    }

    @Test
    void stoppingListenersWaitersAreReturnedWithBackoffAndOthersWaitOn() throws Throwable {
        Subscription parcels = DeliveryRig.subscription("parcels", rig.queue);
        waitFor(DeliveryRig.KEY, "order", 2);
        waitFor(OTHER_KEY, rig.receive(parcels, "parcel", 1));

        rig.deliveries.stop(rig.orders).end();
        pass(Duration.ofSeconds(15));

        assertThat(rig.queue.changes()).containsExactly(new Change("order", 8), new Change("parcel", 30));
        assertThat(rig.supervisor.inFlight()).isOne();
    }

    @Test
    void stoppingListenersDeliveryDoesNotBeginToWait() throws Throwable {
        Delivery late = rig.receive();
        rig.store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(20)));
        rig.process(late, DeliveryRig::neverCalled);

        rig.deliveries.settleWhileStopping(late);

        assertThat(rig.queue.changes()).containsExactly(new Change("handle", 4));
        assertThat(rig.waiting).isEmpty();
        assertThat(rig.supervisor.inFlight()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"3, 0", "4, 1", "5, 1"})
    void lastReceivesBeforeTheDeadLetterQueueAreToldOnceAMinute(int receiveCount, int warnings, CapturedOutput output)
            throws Throwable {
        Subscription fiveReceives = new Subscription("listener", "five", rig.orders.window(), null, rig.queue, 5);
        waitFor(DeliveryRig.KEY, rig.receive(fiveReceives, "one", receiveCount));
        waitFor(DeliveryRig.KEY, rig.receive(fiveReceives, "two", receiveCount));

        assertThat(rig.runOut).hasSize(2 * warnings);
        assertThat(output.getAll().split("raise maxReceiveCount", -1)).hasSize(warnings + 1);
        rig.clock.advance(Duration.ofMinutes(1));
        waitFor(DeliveryRig.KEY, rig.receive(fiveReceives, "three", receiveCount));
        assertThat(output.getAll().split("raise maxReceiveCount", -1)).hasSize(2 * warnings + 1);
    }

    @Test
    void queueWithoutADeadLetterQueueHasNoBudget() throws Throwable {
        waitFor(DeliveryRig.KEY, "handle", 1_000);

        assertThat(rig.runOut).isEmpty();
    }
}
