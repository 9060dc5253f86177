package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.ScriptedGate;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.Renewer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

class ClaimHealthIndicatorTests {

    private final ClaimBackend backend = mock();
    private final FakeClock clock = new FakeClock();
    private final Renewer renewer = ListenerRig.renewer(new ScriptedStore(), clock);
    private final ListenerStates listeners = new ListenerStates();
    private final ScriptedGate gate = new ScriptedGate("claims");
    private final Subscription orders = new Subscription(
            "fulfilment",
            "orders",
            new QueueSettings(VisibilityWindow.ofSeconds(30), null),
            null,
            new ScriptedQueue(),
            gate);

    @BeforeEach
    void answer() {
        when(backend.prove()).thenReturn(Map.of("primary", "10.0.0.5:5432"));
    }

    private Health health() {
        return new ClaimHealthIndicator(backend, renewer, listeners).health();
    }

    @Test
    void primaryThatAnswersAndRenewalsInTimeAreUp() {
        listeners.subscribed(orders);

        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(health().getDetails()).containsEntry("primary", "10.0.0.5:5432");
    }

    @Test
    void renewalsThatAreNotCheckedAreDown() {
        clock.advance(Duration.ofMillis(2_001));
        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails()).containsEntry("millisSinceRenewalCheck", 2_001L);
        renewer.tick();
        assertThat(health().getStatus()).isEqualTo(Status.UP);
    }

    @Test
    void pausedListenerIsDownWithTheReason() {
        listeners.subscribed(orders);
        gate.pause(true);

        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails())
                .containsEntry(
                        "pausedListeners",
                        List.of("listener 'fulfilment' on queue 'orders': no answer to claims by claims"));
    }

    @Test
    void crashIsCountedAndListenersContinue() {
        Boundary.guard("A poll", () -> {
            throw new OutOfMemoryError("used up");
        });

        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(health().getDetails()).containsEntry("crashes", Boundary.crashes());
        assertThat((Long) health().getDetails().get("secondsSinceCrash")).isBetween(0L, 60L);
    }

    @Test
    void databaseThatIsAwayIsDown() {
        when(backend.prove()).thenThrow(new IllegalStateException("connection refused"));

        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails().get("error").toString()).contains("connection refused");
    }
}
