package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class ClaimsTests {

    private final DeliveryRig rig = new DeliveryRig();
    private final Claims claims = rig.claims();
    private final List<String> answers = new ArrayList<>();

    private void claim(int attempts) {
        ClaimSpec action = new ClaimSpec(new ClaimKey("orders", "A-1"), null, InDoubtPolicy.RERUN);
        claims.claim(
                List.of(new ClaimSettings("worker", null).request(action)),
                (failures, failure) -> failures < attempts,
                (outcomes, failure, askedAt) -> answers.add(failure == null ? "answered" : "given up"));
    }

    @Test
    void firstFailureOfEachOutageHasItsStackTraceAlsoAfterACallThatWasGivenUp(CapturedOutput output) {
        rig.store.failClaims(true);
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
