package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.renewal.RenewalObserver;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.renewal.Window;
import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.SystemClockwork;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.ScriptedStore;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;

class TickLifecycleTests {

    private final ScriptedStore store = new ScriptedStore();
    private final ScriptedQueue queue = new ScriptedQueue();
    private final SystemClockwork clockwork = new SystemClockwork();
    private final Renewer renewals = new Renewer(
            store,
            new RenewalSchedule(0.05, 0),
            new RenewalObserver() {},
            clockwork.thread("leases"),
            clockwork,
            Jitter.RANDOM);
    private final TickLifecycle lifecycle = new TickLifecycle(() -> renewals.begin(clockwork, "renewal"));

    @AfterEach
    void stop() {
        lifecycle.stop();
    }

    @Test
    void containersAndWebServersStartLaterAndStopEarlier() {
        assertThat(lifecycle.getPhase()).isLessThan(SmartLifecycle.DEFAULT_PHASE);
        assertThat(lifecycle.getPhase()).isLessThan(WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE);
        assertThat(lifecycle.isAutoStartup()).isTrue();
    }

    @Test
    void stoppedLifecycleCanStartAgain() {
        assertThat(lifecycle.isRunning()).isFalse();
        lifecycle.start();
        assertThat(lifecycle.isRunning()).isTrue();
        lifecycle.stop();
        assertThat(lifecycle.isRunning()).isFalse();
        lifecycle.start();

        Window window = dueDelivery();

        await().until(() -> !queue.requests().isEmpty() && !store.renewals().isEmpty());
        window.stop();
    }

    /** Both window and lease were due a second ago. */
    private Window dueDelivery() {
        long begun = System.nanoTime() - Duration.ofSeconds(2).toNanos();
        Subscription subscription = new Subscription("listener", "orders", VisibilityWindow.ofSeconds(10), queue);
        Window window = renewals.start(subscription, "handle", begun);
        ClaimId claim = new ClaimId(new ClaimKey("orders", "A-1"), UUID.randomUUID());
        window.hold(claim, Duration.ofSeconds(10), begun, () -> {});
        return window;
    }
}
