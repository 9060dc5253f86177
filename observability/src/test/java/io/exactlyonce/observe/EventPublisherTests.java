package io.exactlyonce.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ExactlyOnceEvent;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalEvent;
import io.exactlyonce.renewal.RenewalEvent.Result;
import io.exactlyonce.renewal.RenewalEvent.Target;
import io.exactlyonce.window.WindowWarning;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class EventPublisherTests {

    private static final ClaimKey KEY = new ClaimKey("orders", "o1");

    private final List<Object> published = new ArrayList<>();
    private final FakeClock clock = new FakeClock();
    private final EventPublisher publisher = new EventPublisher(published::add, Runnable::run, clock);
    private final Subscription orders = new Subscription(
            "fulfilment",
            "orders",
            new QueueSettings(VisibilityWindow.ofSeconds(30), null),
            Duration.ofSeconds(20),
            new ScriptedQueue(),
            PollGate.OPEN);

    @Test
    void whatNeedsAReactionIsPublishedAndNothingElse() {
        publisher.on(new DeliveryEvent.Claimed(orders, KEY, new ClaimOutcome.Acquired(1, 1, false)));
        publisher.on(new DeliveryEvent.Claimed(orders, KEY, new ClaimOutcome.Acquired(2, 2, true)));
        publisher.on(new DeliveryEvent.Claimed(orders, KEY, new ClaimOutcome.AlreadyCompleted(null)));
        publisher.on(new DeliveryEvent.Claimed(orders, KEY, new ClaimOutcome.Mismatch(null)));
        publisher.on(new DeliveryEvent.Claimed(orders, KEY, new ClaimOutcome.HeldElsewhere(Duration.ofSeconds(1))));
        publisher.on(new DeliveryEvent.Claimed(orders, KEY, new ClaimOutcome.Parked()));
        publisher.on(new RenewalEvent.Renewed(orders, Target.LEASE, Result.FAILED));
        publisher.on(new RenewalEvent.Renewed(orders, Target.WINDOW, Result.LOST));
        publisher.on(new DeliveryEvent.Parked(orders, KEY));
        publisher.on(new RenewalEvent.ClaimLost(orders, KEY));
        publisher.on(new RenewalEvent.TimedOut(orders, KEY));
        publisher.on(new DeliveryEvent.LastReceiveFailed(orders, KEY, 6, 5, "orders-dead"));
        publisher.warned(orders, warning(WindowWarning.Kind.NEAR));
        publisher.warned(orders, warning(WindowWarning.Kind.BREACHED));
        publisher.warned(orders, warning(WindowWarning.Kind.RECOVERED));

        assertThat(published)
                .containsExactly(
                        new ExactlyOnceEvent.TakenOver("fulfilment", "orders", KEY.keyHash(), 2),
                        new ExactlyOnceEvent.DuplicateSuppressed("fulfilment", "orders", KEY.keyHash()),
                        new ExactlyOnceEvent.KeyParked("fulfilment", "orders", KEY.keyHash()),
                        new ExactlyOnceEvent.KeyParked("fulfilment", "orders", KEY.keyHash()),
                        new ExactlyOnceEvent.ClaimLost("fulfilment", "orders", KEY.keyHash()),
                        new ExactlyOnceEvent.HandlerTimedOut(
                                "fulfilment", "orders", KEY.keyHash(), Duration.ofSeconds(20)),
                        new ExactlyOnceEvent.LastReceiveFailed(
                                "fulfilment", "orders", KEY.keyHash(), 6, 5, "orders-dead"),
                        new ExactlyOnceEvent.WindowNear(
                                "fulfilment", "orders", Duration.ofSeconds(31), Duration.ofSeconds(30)),
                        new ExactlyOnceEvent.WindowBreached(
                                "fulfilment", "orders", Duration.ofSeconds(31), Duration.ofSeconds(30)));
    }

    private static WindowWarning warning(WindowWarning.Kind kind) {
        return new WindowWarning(kind, Duration.ofSeconds(31), Duration.ofSeconds(30));
    }

    @Test
    void applicationsListenerThatThrowsDisturbsNothing(CapturedOutput output) {
        EventPublisher failing = new EventPublisher(
                event -> {
                    throw new IllegalStateException("broken listener");
                },
                Runnable::run,
                clock);

        failing.on(new DeliveryEvent.Claimed(orders, KEY, new ClaimOutcome.Parked()));

        assertThat(output).contains("An application listener of KeyParked").contains("broken listener");
    }

    /**
     * The overload lasts: each handled event frees one place in the queue of events, so every second event finds a
     * place.
     */
    @Test
    void eventsThatCannotBeKeptAreDroppedAndLoggedOnceAMinuteWithTheirNumber(CapturedOutput output) {
        AtomicInteger offered = new AtomicInteger();
        EventPublisher full = new EventPublisher(
                published::add,
                task -> {
                    if (offered.incrementAndGet() % 2 == 0) {
                        throw new RejectedExecutionException();
                    }
                },
                clock);

        for (int event = 0; event < 240; event++) {
            full.on(new DeliveryEvent.Claimed(orders, KEY, new ClaimOutcome.Parked()));
            clock.advance(Duration.ofSeconds(1));
        }

        assertThat(output.toString().split("Events are dropped", -1)).hasSize(5);
        assertThat(output).contains("Events are dropped (1 since").contains("Events are dropped (30 since");
        assertThat(published).isEmpty();
    }
}
