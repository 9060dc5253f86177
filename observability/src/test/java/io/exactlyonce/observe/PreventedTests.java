package io.exactlyonce.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.Cancellation;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class PreventedTests {

    private static final ClaimKey KEY = new ClaimKey("orders", "card-4711");

    private final FakeClock clock = new FakeClock();
    private final Prevented prevented = new Prevented(clock);
    private final Subscription orders =
            new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());

    private void claimed(ClaimOutcome outcome) {
        prevented.on(new DeliveryEvent.Claimed(orders, KEY, outcome));
    }

    private void handled(Duration taken, DeliveryState state) {
        Delivery delivery = new Delivery(orders, orders.settings(), "id", "handle", 1, clock.nanoTime());
        delivery.beginCall(new Cancellation());
        clock.advance(taken);
        prevented.on(new DeliveryEvent.Settled(delivery, state));
    }

    private void passWithTicks(Duration time) {
        for (long minute = 0; minute < time.toMinutes(); minute++) {
            clock.advance(Duration.ofMinutes(1));
            prevented.tick();
        }
    }

    private static int times(CapturedOutput output, String line) {
        return output.toString().split(line, -1).length - 1;
    }

    @Test
    void eachTakeoverIsALineWithTheKeysHash(CapturedOutput output) {
        claimed(new ClaimOutcome.Acquired(1, 1, false));
        claimed(new ClaimOutcome.Acquired(2, 2, true));
        claimed(new ClaimOutcome.Acquired(3, 3, true));

        assertThat(output)
                .contains("listener 'fulfilment' on queue 'orders' takes " + KEY + " over at attempt 2: ")
                .contains(
                        " over at attempt 3: an earlier attempt reported no outcome, because its process died, its timeout"
                                + " expired, or it was stopped")
                .doesNotContain(" over at attempt 1: ", "card-4711");
    }

    @Test
    void firstDuplicateIsALineAndThenTheirNumberOnceAnHour(CapturedOutput output) {
        claimed(new ClaimOutcome.AlreadyCompleted(null));
        assertThat(output).contains("'fulfilment' on queue 'orders' suppressed its first duplicate: " + KEY);

        passWithTicks(Duration.ofMinutes(30));
        claimed(new ClaimOutcome.AlreadyCompleted(null));
        claimed(new ClaimOutcome.AlreadyCompleted(null));
        passWithTicks(Duration.ofMinutes(29));
        assertThat(output).doesNotContain("more duplicates");

        passWithTicks(Duration.ofMinutes(1));
        assertThat(output).contains("suppressed 2 more duplicates, 3 since the start");

        passWithTicks(Duration.ofHours(5));
        assertThat(times(output, "more duplicates")).isOne();

        claimed(new ClaimOutcome.AlreadyCompleted(null));
        passWithTicks(Duration.ofHours(1));
        assertThat(output).contains("suppressed 1 more duplicates, 4 since the start");
        assertThat(times(output, "its first duplicate")).isOne();
    }

    @Test
    void firstDeliveryBeyondTheVisibilityTimeoutIsALineAndThenTheirNumberOnceAnHour(CapturedOutput output) {
        handled(Duration.ofSeconds(30), DeliveryState.DELETING);
        assertThat(output).doesNotContain("visibility timeout");

        handled(Duration.ofSeconds(94), DeliveryState.DELETING);
        handled(Duration.ofSeconds(40), DeliveryState.RETURNED);
        passWithTicks(Duration.ofHours(2));

        assertThat(output)
                .contains(
                        "message id (receive 1) of listener 'fulfilment' on queue 'orders' took 94 s from its receive to"
                                + " the end of its handler, and the visibility timeout is 30 s")
                .contains("had 1 more deliveries that took longer than the visibility timeout, 2 since the start");
        assertThat(times(output, "took 40 s")).isZero();
    }

    /**
     * A duplicate that waited long for the owner of its key also outlasts the visibility timeout, although no handler
     * ran.
     */
    @Test
    void deliveryWithoutAHandlerIsNotReported(CapturedOutput output) {
        Delivery waited = new Delivery(orders, orders.settings(), "id", "handle", 1, clock.nanoTime());
        clock.advance(Duration.ofSeconds(94));

        prevented.on(new DeliveryEvent.Settled(waited, DeliveryState.RETURNED));

        assertThat(output).doesNotContain("visibility timeout");
    }
}
