package io.exactlyonce.delivery.pipeline;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.GatedStore;
import io.exactlyonce.claim.GatedStore.Batch;
import io.exactlyonce.claim.groupcommit.GroupCommitRig;
import io.exactlyonce.claim.groupcommit.GroupCommitRig.Caller;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.time.Timer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Calls that are interrupted, repeated and given up. */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(60)
class ClaimsTests {

    private final GroupCommitRig rig = new GroupCommitRig();
    private final Claims claims = new Claims(rig.store, rig.front, Timer.SYSTEM, System::nanoTime);
    private final DeliveryRig outage = new DeliveryRig();
    private final Claims repeating = outage.claims();
    private final List<String> answers = new ArrayList<>();

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void claimThatWasInterruptedOnItsWayIsAnsweredAllTheSame() throws Exception {
        ClaimRequest claim = request(newKey());
        List<Boolean> interrupted = new ArrayList<>();
        Caller<ClaimOutcome> caller = GroupCommitRig.call(() -> {
            ClaimOutcome outcome = claims.awaitClaim(claim);
            interrupted.add(Thread.currentThread().isInterrupted());
            return outcome;
        });
        Batch claiming = rig.store.next();

        caller.thread().interrupt();
        claiming.answer();

        assertThat(caller.answer().get()).isEqualTo(GatedStore.outcome(claim));
        assertThat(interrupted).containsExactly(true);
    }

    @Test
    void threadThatWasInterruptedStillReleasesItsClaim() throws Exception {
        ClaimRequest claim = request(newKey());
        Caller<Boolean> caller = GroupCommitRig.call(() -> {
            Thread.currentThread().interrupt();
            return claims.awaitEnd(new ClaimEnd.Released(claim.id(), "failed", false), () -> false)
                    && Thread.currentThread().isInterrupted();
        });

        rig.store.next().answer();

        assertThat(caller.answer().get()).isTrue();
    }

    private void claim(int attempts) {
        ClaimSpec action = new ClaimSpec(new ClaimKey("orders", "A-1"), null, InDoubtPolicy.RERUN);
        repeating.claim(
                List.of(new ClaimSettings("worker", null).request(action)),
                (failures, failure) -> failures < attempts,
                (outcomes, failure, askedAt) -> answers.add(failure == null ? "answered" : "given up"));
    }

    @Test
    void firstFailureOfEachOutageHasItsStackTraceAlsoAfterACallThatWasGivenUp(CapturedOutput output) {
        outage.store.failClaims(true);
        claim(3);
        assertThat(answers).containsExactly("given up");
        claim(3);
        assertThat(answers).containsExactly("given up", "given up");

        assertThat(output.getOut().lines().filter(line -> line.endsWith("failed; trying again")))
                .as("lines that a stack trace follows")
                .hasSize(2);
        assertThat(output.getOut().lines().filter(line -> line.contains("failed; trying again: ")))
                .as("lines without one")
                .hasSize(2);
    }
}
