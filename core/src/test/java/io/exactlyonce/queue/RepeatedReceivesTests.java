package io.exactlyonce.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.core.metrics.CoreMetric;
import software.amazon.awssdk.metrics.MetricCollection;
import software.amazon.awssdk.metrics.MetricCollector;

@ExtendWith(OutputCaptureExtension.class)
class RepeatedReceivesTests {

    private final FakeClock clock = new FakeClock();
    private final Subscription orders =
            new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());
    private final RepeatedReceives receives = new RepeatedReceives(orders, clock::nanoTime);

    private static MetricCollection call(int repetitions, boolean isSuccessful) {
        MetricCollector call = MetricCollector.create("ApiCall");
        call.reportMetric(CoreMetric.RETRY_COUNT, repetitions);
        call.reportMetric(CoreMetric.API_CALL_SUCCESSFUL, isSuccessful);
        for (int attempt = 0; attempt < repetitions; attempt++) {
            call.createChild("ApiCallAttempt").reportMetric(CoreMetric.ERROR_TYPE, "IO");
        }
        return call.collect();
    }

    private static long lines(CapturedOutput output) {
        return output.getOut().lines().filter(line -> line.contains(" WARN ")).count();
    }

    @Test
    void repetitionThatSucceedsIsLoggedOnceAnHourWithTheNumberOfTheOthers(CapturedOutput output) {
        for (int call = 0; call < 100; call++) {
            receives.publish(call(1, true));
        }
        assertThat(lines(output)).isOne();
        assertThat(output)
                .contains(
                        "A receive of listener 'fulfilment' on queue 'orders' failed, and the SDK repeated it (errors: IO)");

        clock.advance(Duration.ofHours(1));
        receives.publish(call(3, true));
        assertThat(lines(output)).isEqualTo(2);
        assertThat(output).contains("(also 99 times since the last such line)");
    }

    /** A call without a repetition is not logged here. The poll logs a call that fails. */
    @Test
    void otherCallsAreNotLogged(CapturedOutput output) {
        receives.publish(call(0, true));
        receives.publish(call(3, false));

        assertThat(lines(output)).isZero();
    }
}
