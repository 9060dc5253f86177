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

    private void outage(int failures) {
        for (int failure = 0; failure < failures; failure++) {
            rig.store.onRenew(requested -> {
                throw new IllegalStateException("no connection", new IllegalStateException("refused"));
            });
        }
    }

    private static long traces(CapturedOutput output) {
        return output.getOut()
                .lines()
                .filter(line -> line.startsWith(IllegalStateException.class.getName()))
                .count();
    }

    @Test
    void outageIsLoggedWithOneStackTraceAndOneLineForEachRetry(CapturedOutput output) {
        rig.hold(60);
        outage(3);

        rig.tickFor(Duration.ofSeconds(58));

        assertThat(traces(output)).isOne();
        assertThat(output.getOut().lines().filter(line -> line.contains("Renewing 1 leases failed")))
                .hasSize(3);
        assertThat(output).contains("while they last: java.lang.IllegalStateException: refused");
    }

    @Test
    void nextOutageHasAStackTraceOfItsOwn(CapturedOutput output) {
        rig.hold(60);
        outage(1);
        rig.tickFor(Duration.ofSeconds(60));
        outage(1);
        rig.tickFor(Duration.ofSeconds(60));

        assertThat(traces(output)).isEqualTo(2);
    }
}
