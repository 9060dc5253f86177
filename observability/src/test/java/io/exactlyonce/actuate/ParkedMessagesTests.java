package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.actuate.ParkedMessages.Place;
import io.exactlyonce.actuate.ParkedMessages.Seen;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ParkedMessagesTests {

    private static final Instant NOON = Instant.parse("2026-11-28T12:00:00Z");
    private static final ClaimKey KEY = new ClaimKey("orders", "A-1");

    private final ParkedMessages messages = new ParkedMessages(InstantSource.fixed(NOON));
    private final Subscription orders =
            new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());

    private void settle(@Nullable ClaimKey key, @Nullable Integer maxReceiveCount, int receiveCount) {
        Delivery delivery = new Delivery(
                orders,
                new QueueSettings(VisibilityWindow.ofSeconds(30), maxReceiveCount),
                "id",
                "handle",
                receiveCount,
                0);
        delivery.attempt().specify(key == null ? null : new ClaimSpec(key, null, InDoubtSettings.RERUN), "", true);
        delivery.decide(new Disposition.Return(Duration.ofSeconds(20)));
        messages.settled(new DeliveryEvent.Settled(delivery, DeliveryState.RETURNED));
    }

    private Seen seen() {
        return Objects.requireNonNull(messages.of(KEY));
    }

    @Test
    void messageIsFollowedFromItsParkingToTheDeadLetterQueue() {
        messages.parked(new DeliveryEvent.Parked(orders, KEY));
        assertThat(seen().place()).isEqualTo(Place.IN_FLIGHT);
        assertThat(seen().visibleAt()).isNull();

        settle(KEY, 5, 1);
        assertThat(seen().place()).isEqualTo(Place.IN_QUEUE);
        assertThat(seen().visibleAt()).isEqualTo(NOON.plusSeconds(20));
        assertThat(seen().text()).contains("'orders'", "2026-11-28T12:00:20Z");

        messages.claimed(new DeliveryEvent.Claimed(orders, KEY, new ClaimOutcome.Parked()));
        assertThat(seen().place()).isEqualTo(Place.IN_FLIGHT);
        settle(KEY, 5, 5);
        assertThat(seen().place()).isEqualTo(Place.DEAD_LETTER_QUEUE);
    }

    @Test
    void messageWithoutADeadLetterQueueStaysInItsQueue() {
        messages.parked(new DeliveryEvent.Parked(orders, KEY));
        settle(KEY, null, 100);

        assertThat(seen().place()).isEqualTo(Place.IN_QUEUE);
    }

    @Test
    void keyThatIsClaimedAgainIsForgotten() {
        messages.parked(new DeliveryEvent.Parked(orders, KEY));
        messages.claimed(new DeliveryEvent.Claimed(orders, KEY, new ClaimOutcome.Acquired(2, 2, true)));

        assertThat(messages.of(KEY)).isNull();
        settle(KEY, 5, 3);
        assertThat(messages.of(KEY)).isNull();
    }

    @Test
    void deliveriesOfOtherKeysAndOfNoneAreNotKept() {
        messages.parked(new DeliveryEvent.Parked(orders, KEY));
        settle(null, 5, 1);
        settle(new ClaimKey("orders", "A-2"), 5, 1);

        assertThat(messages.of(new ClaimKey("orders", "A-2"))).isNull();
        assertThat(seen().place()).isEqualTo(Place.IN_FLIGHT);
    }

    @Test
    void onlyTheLatestThousandAreKept() {
        for (int i = 0; i <= 1_000; i++) {
            messages.parked(new DeliveryEvent.Parked(orders, new ClaimKey("orders", "B-" + i)));
        }

        assertThat(messages.of(new ClaimKey("orders", "B-0"))).isNull();
        assertThat(messages.of(new ClaimKey("orders", "B-1"))).isNotNull();
    }
}
