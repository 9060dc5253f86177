package io.exactlyonce.renewal;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(OutputCaptureExtension.class)
class RenewalOutageTests {

    private final RenewalRig rig = RenewalRig.renewing();

    @Test
    void eachOutageIsLoggedWithOneStackTraceAndOneLineForEachRetry(CapturedOutput output) {
        rig.hold(60);
        for (int outage = 1; outage <= 2; outage++) {
            rig.store.loseRenewals(3);

            rig.tickFor(Duration.ofSeconds(90));

            assertThat(output.getOut().lines().filter(line -> line.startsWith("java.lang.IllegalStateException")))
                    .hasSize(outage);
            assertThat(output.getOut().lines().filter(line -> line.contains("Renewing 1 leases failed")))
                    .hasSize(3 * outage);
        }
        assertThat(output).contains("until they expire: java.lang.IllegalStateException: connection refused");
    }
}
