package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A single delivery in the pipeline, during the stop of its listener, and after a crash. */
class DeliveryTests {

    private static final Disposition WAIT = new Disposition.Wait(Duration.ZERO);

    private final DeliveryRig rig = new DeliveryRig();

    private static Delivery claiming(Delivery delivery) {
        DeliveryRig.asking(delivery).beginProcessing();
        return delivery;
    }

    /** Later messages of the group must not overtake a delivery that waits. */
    @Test
    void deliveryThatWaitsOnItsLastReceiveStaysInItsQueue() {
        Delivery waiting = claiming(rig.receiveLast());
        waiting.decide(WAIT);

        assertThat(waiting.leavesItsQueue()).isFalse();
    }

    @Test
    void deliveryThatIsReturnedOnItsLastReceiveLeavesItsQueue() {
        Delivery returned = claiming(rig.receiveLast());
        returned.decide(new Disposition.Return(Duration.ZERO));

        assertThat(returned.leavesItsQueue()).isTrue();
    }

    @Test
    void deliveryWhoseWaitHasEndedWithItsDeleteWaitsNoMore() {
        Delivery duplicate = claiming(rig.receiveLast());
        duplicate.decide(WAIT);
        duplicate.transition(DeliveryState.CLAIMING, DeliveryState.WAITING);
        duplicate.transition(DeliveryState.WAITING, DeliveryState.DELETING);

        assertThat(duplicate.leavesItsQueue()).isTrue();
    }

    @Test
    void onlyWhatNoThreadProcessesIsReturnedAtOnce() {
        Delivery untouched = rig.receive();
        Delivery claiming = claiming(rig.receive());

        assertThat(untouched.holdBack()).isTrue();
        assertThat(untouched.holdBack()).as("once more").isTrue();
        assertThat(claiming.holdBack()).isFalse();
        assertThat(claiming.mayHandlerBegin()).isFalse();
    }

    @Test
    void endReportsWhetherAClaimDidNotReachItsHandler() {
        Delivery claimed = claiming(rig.receive());
        claimed.transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
        Delivery recorded = claiming(rig.receive());
        recorded.decide(new Disposition.Acknowledge());

        assertThat(claimed.end()).isTrue();
        assertThat(recorded.end()).isFalse();
        assertThat(claimed.state()).isEqualTo(DeliveryState.ABANDONED);
        assertThat(recorded.state()).isEqualTo(DeliveryState.GONE);
    }

    @Test
    void crashStopsTheHandlerAndSettlesTheDeliveryOnce() {
        Delivery crashed = claiming(rig.receive());
        crashed.transition(DeliveryState.CLAIMING, DeliveryState.CLAIMED);
        crashed.beginHandling();
        Cancellation call = new Cancellation();
        crashed.beginCall(call);

        assertThat(crashed.crash()).isTrue();
        assertThat(call.wasStopped()).isTrue();
        call.close();
        assertThat(crashed.state()).isEqualTo(DeliveryState.ABANDONED);
        assertThat(crashed.processed()).isDone();
        assertThat(crashed.crash()).as("once more").isFalse();
    }

    @Test
    void crashDoesNotAbandonWhatIsRecorded() {
        Delivery recorded = claiming(rig.receive());
        recorded.decide(new Disposition.Acknowledge());

        assertThat(recorded.crash()).isFalse();
        assertThat(recorded.isAcknowledged()).isTrue();
    }

    @Test
    void firstFailureCountsAndAMessageWithoutAKeyHasNone() {
        Delivery delivery = claiming(rig.receive());
        delivery.attempt().failed(new IllegalStateException());
        delivery.attempt().failed(new IllegalArgumentException());
        Delivery unreadable = rig.receive();
        unreadable.attempt().failed(new IllegalStateException());

        assertThat(delivery.attempt().failure()).startsWith("java.lang.IllegalStateException");
        assertThat(unreadable.attempt().failure()).isNull();
    }
}
