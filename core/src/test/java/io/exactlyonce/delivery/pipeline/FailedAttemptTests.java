package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimResolution.Parked;
import io.exactlyonce.claim.ClaimResolution.Released;
import io.exactlyonce.delivery.HeldClaim;
import io.exactlyonce.delivery.InDoubtSettings;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Advice that fails before it calls the method counts as an attempt that threw, unless the attempt was stopped. */
class FailedAttemptTests {

    private static final ClaimId ID = new ClaimId(new ClaimKey("orders", "A-1"), new UUID(0, 1));
    private static final InDoubtSettings TWO =
            new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(IllegalArgumentException.class), 2);

    private static HeldClaim claim(int failures) {
        return new HeldClaim(ID, new Acquired(7, 7, false, failures), () -> true, () -> true);
    }

    @Test
    void adviceThatThrewCounts() {
        assertThat(FailedAttempt.notCalled(claim(0), new IOException("busy"), false, TWO))
                .isEqualTo(new Released(ID, "the handler was not called: java.io.IOException: busy", false, true));
        assertThat(FailedAttempt.notCalled(claim(1), new IOException("busy"), false, TWO))
                .isEqualTo(new Parked(
                        ID,
                        "the handler was not called: maxAttempts (2) is reached: java.io.IOException: busy",
                        false,
                        true));
    }

    @Test
    void adviceThatWasStoppedDoesNotCount() {
        assertThat(FailedAttempt.notCalled(claim(1), new IOException("busy"), true, TWO))
                .isEqualTo(new Released(ID, "the handler was not called: java.io.IOException: busy", false, false));
        assertThat(FailedAttempt.notCalled(claim(1), new InterruptedException("stopped"), false, TWO))
                .isEqualTo(new Released(
                        ID, "the handler was not called: java.lang.InterruptedException: stopped", false, false));
        assertThat(FailedAttempt.notCalled(
                        claim(1), new IllegalArgumentException(new InterruptedException("stopped")), false, TWO))
                .isEqualTo(new Parked(
                        ID,
                        "the handler was not called: java.lang.IllegalArgumentException:"
                                + " java.lang.InterruptedException: stopped",
                        false,
                        false));
    }
}
