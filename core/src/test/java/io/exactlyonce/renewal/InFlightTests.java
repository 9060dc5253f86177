package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.visibility.QueueVisibility.Change;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Most ticks look at one moment, and not at each visibility timeout and lease. None may be forgotten by that. */
class InFlightTests {

    private RenewalRig rig = new RenewalRig(new RenewalSchedule(false, 0.5, 0));

    private void lease(long seconds, Runnable holder) {
        ClaimId claim = new ClaimId(new ClaimKey("orders", UUID.randomUUID().toString()), UUID.randomUUID());
        rig.renewer.renewLease(claim, Duration.ofSeconds(seconds), rig.clock.nanoTime(), holder);
    }

    @Test
    void whatIsAddedWhileATickAsksTheOthersIsAskedInTime() {
        lease(10, () -> lease(4, rig.timesLost::incrementAndGet));

        rig.tickFor(Duration.ofMillis(9_500 + 3_700));
        assertThat(rig.timesLost).hasValue(0);

        rig.tickFor(Duration.ofMillis(100));
        assertThat(rig.timesLost).hasValue(1);
    }

    /** A tick may come between the two, and look at all but this one. */
    @Test
    void whatIsAddedAfterATickThatCameSinceItsReceiveIsRenewedInTime() {
        rig = RenewalRig.renewing();
        Subscription orders = new Subscription("listener", "orders", VisibilityWindow.ofSeconds(30), rig.queue);
        Window window = new Window(rig.renewer, orders, "handle", rig.clock.nanoTime());
        rig.advance(Duration.ofSeconds(15));

        rig.renewer.windows.add(window);

        assertThat(rig.millisOfRequests(Duration.ofSeconds(14))).containsExactly(100L);
    }

    @Test
    void tickThatThrowsIsFollowedByOneThatAsksEach() {
        for (int lease = 0; lease < 10; lease++) {
            lease(2, () -> {
                rig.timesLost.incrementAndGet();
                throw new IllegalStateException("simulated");
            });
        }
        rig.tickFor(Duration.ofMillis(1_800));

        for (int tick = 0; tick < 10; tick++) {
            assertThatThrownBy(() -> rig.tickFor(Renewer.TICK)).hasMessage("simulated");
        }

        assertThat(rig.timesLost).hasValue(10);
    }

    @Test
    void whatIsAddedBesideATickIsRenewedInTime() {
        rig = RenewalRig.renewing();
        for (int run = 0; run < 300; run++) {
            String handle = "handle-" + run;
            CompletableFuture<Window> adding = CompletableFuture.supplyAsync(() -> rig.start(handle, 30));
            rig.renewer.tick();
            Window window = adding.join();

            rig.tickFor(Duration.ofSeconds(15));

            assertThat(rig.queue.changes())
                    .last()
                    .extracting(Change::receiptHandle)
                    .isEqualTo(handle);
            window.stop();
        }
    }
}
