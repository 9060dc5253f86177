package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.netty.handler.timeout.ReadTimeoutException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;

@ExtendWith(OutputCaptureExtension.class)
class PollFailuresTests {

    private final SqsQueue queue =
            new SqsQueue(new FakeReceives(), "http://localhost/1/orders", VisibilityWindow.ofSeconds(30));
    private final Subscription orders = new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), queue);
    private final PollFailures failures = new PollFailures(queue, Duration.ofSeconds(10));

    static Stream<Throwable> timeouts() {
        return Stream.of(
                sdk(new IOException("Read timed out", ReadTimeoutException.INSTANCE)),
                sdk(new SocketTimeoutException("Read timed out")),
                sdk(new IOException("channel shut down due to failure to meet throughput minimum")),
                ApiCallTimeoutException.builder().numAttempts(4).build(),
                ApiCallAttemptTimeoutException.builder().numAttempts(4).build());
    }

    private static SdkClientException sdk(Throwable cause) {
        return SdkClientException.builder()
                .message("Unable to execute HTTP request")
                .cause(cause)
                .numAttempts(4)
                .build();
    }

    @ParameterizedTest
    @MethodSource("timeouts")
    void clientThatIsLessPatientThanItsPollsIsReportedOnce(Throwable timeout, CapturedOutput output) {
        failures.log(orders, new CompletionException(timeout), Duration.ofSeconds(20));
        failures.log(orders, new CompletionException(timeout), Duration.ofSeconds(20));

        assertThat(output)
                .containsOnlyOnce("WARN")
                .contains(
                        "Polls of listener 'fulfilment' on queue 'orders' wait for 10 s, but their client gives up after about 5000 ms",
                        "readTimeout",
                        "pollTimeoutSeconds")
                .doesNotContain("ERROR", "\tat ");
        assertThat(queue.clientPatience()).isEqualTo(Duration.ofSeconds(5));
    }

    /** If a poll gets no answer although its wait has ended, the server or the network has a problem. */
    @Test
    void timeoutAfterTheWaitIsAnErrorWithItsStackTrace(CapturedOutput output) {
        failures.log(orders, sdk(ReadTimeoutException.INSTANCE), Duration.ofSeconds(120));

        assertThat(output).contains("ERROR", "Polling listener 'fulfilment' on queue 'orders' failed", "\tat ");
        assertThat(queue.clientPatience()).isNull();
    }

    @Test
    void otherFailuresAreErrorsWithTheirStackTraces(CapturedOutput output) {
        failures.log(orders, sdk(new IOException("connection reset")), Duration.ofSeconds(1));
        failures.log(orders, new IllegalStateException("closed"), Duration.ZERO);

        assertThat(output).contains("connection reset", "closed", "\tat ").doesNotContain("WARN");
        assertThat(queue.clientPatience()).isNull();
    }
}
