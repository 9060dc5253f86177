package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.QueueVisibility.Change;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Visibility timeouts and leases that are added or lost during a tick. The tick must not forget any of them: each one
 * must be renewed or expire.
 */
class RenewalTickTests {

    private RenewalRig rig = new RenewalRig(new RenewalSchedule(false, 0.5, 0));

    private void lease(long seconds, Runnable holder) {
        ClaimId claim = new ClaimId(new ClaimKey("orders", UUID.randomUUID().toString()), UUID.randomUUID());
        rig.renewer.renewLease(claim, Duration.ofSeconds(seconds), rig.clock.nanoTime(), holder);
    }

    @Test
    void whatIsAddedWhileATickChecksTheOthersIsCheckedInTime() {
        lease(10, () -> lease(4, rig.timesLost::incrementAndGet));

        rig.tickFor(Duration.ofMillis(9_500 + 3_700));
        assertThat(rig.timesLost).hasValue(0);

        rig.tickFor(Duration.ofMillis(100));
        assertThat(rig.timesLost).hasValue(1);
    }

    @Test
    void tickThatThrowsIsFollowedByOneThatChecksEach() {
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
            CompletableFuture<MessageVisibility> adding = CompletableFuture.supplyAsync(() -> rig.start(handle, 30));
            rig.renewer.tick();
            MessageVisibility visibility = adding.join();

            rig.tickFor(Duration.ofSeconds(15));

            assertThat(rig.queue.changes())
                    .last()
                    .extracting(Change::receiptHandle)
                    .isEqualTo(handle);
            visibility.stop();
        }
    }
}
