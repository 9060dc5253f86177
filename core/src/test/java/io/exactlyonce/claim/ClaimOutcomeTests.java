package io.exactlyonce.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ClaimOutcomeTests {

    @Test
    void eachCaseGoesToItsFunction() {
        assertThat(match(new Acquired(2, 7, true))).isEqualTo("acquired 7");
        assertThat(match(new AlreadyCompleted("1"))).isEqualTo("completed 1");
        assertThat(match(new Mismatch("2"))).isEqualTo("mismatch 2");
        assertThat(match(new HeldElsewhere(Duration.ofSeconds(3)))).isEqualTo("held PT3S");
        assertThat(match(new Parked())).isEqualTo("parked");
    }

    private static String match(ClaimOutcome outcome) {
        return outcome.match(
                acquired -> "acquired " + acquired.fencingToken(),
                completed -> "completed " + completed.result(),
                mismatch -> "mismatch " + mismatch.result(),
                held -> "held " + held.leaseRemaining(),
                parked -> "parked");
    }
}
