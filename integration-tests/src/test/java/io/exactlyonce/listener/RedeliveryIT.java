package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Redelivery of a key: after its handler succeeded, while it runs, and after it failed. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class RedeliveryIT {

    private static final int WINDOW_SECONDS = 2;
    private static final SqsServer SQS = SqsServer.shared();

    record Order(String orderId) {}

    record Call(String orderId, int attempt, boolean inDoubt, String downstreamKey) {
        static Call of(Order order, Claim claim) {
            return new Call(order.orderId(), claim.attempt(), claim.isInDoubt(), claim.downstreamKey());
        }
    }

    /** Fields are not accessible, because listeners are proxied. */
    static class Recorder {
        private final List<Call> calls = new CopyOnWriteArrayList<>();

        List<Call> calls() {
            return calls;
        }
    }

    static class Quick extends Recorder {

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order.orderId")
        String handle(Order order, Claim claim) {
            calls().add(Call.of(order, claim));
            return "done " + order.orderId();
        }
    }

    static class Patient extends Recorder {
        private final CountDownLatch finish = new CountDownLatch(1);

        void finish() {
            finish.countDown();
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order.orderId")
        void handle(Order order, Claim claim) throws InterruptedException {
            calls().add(Call.of(order, claim));
            finish.await();
            claim.ensureHeld();
        }
    }

    static class Failing extends Recorder {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order.orderId")
        void handle(Order order, Claim claim) {
            calls().add(Call.of(order, claim));
            if (calls().size() == 1) {
                throw new IllegalStateException("the payment provider is away, and 12 \u20AC are due");
            }
        }
    }

    private String queue = SQS.createQueue(WINDOW_SECONDS);

    private TestApplication start(Class<?> listener) {
        return TestApplication.on(queue, Map.of("exactly-once.audit.mode", "off"), listener, SqsRequests.class);
    }

    @Test
    void redeliveryAfterCompletionIsAcknowledgedWithoutCallingTheHandler() {
        try (TestApplication application = start(Quick.class)) {
            Quick listener = application.bean(Quick.class);
            SQS.send(queue, "{\"orderId\":\"o1\"}");
            await().until(() -> application.claims("COMPLETED") == 1);

            SQS.send(queue, "{\"orderId\":\"o1\"}");

            SQS.awaitEmpty(queue);
            assertThat(listener.calls()).hasSize(1);
            assertThat(application.texts("SELECT scope || '/' || key || ' ' || result FROM exactly_once_claim"))
                    .containsExactly(queue + "/o1 \"done o1\"");
        }
    }

    @Test
    void redeliveryDuringHandlingWaitsSilently(CapturedOutput output) {
        try (TestApplication application = start(Patient.class)) {
            Patient listener = application.bean(Patient.class);
            SQS.send(queue, "{\"orderId\":\"o1\"}");
            await().until(() -> listener.calls().size() == 1);

            SQS.send(queue, "{\"orderId\":\"o1\"}");
            await().until(() -> application.outcomes("held_elsewhere") >= 1);
            assertThat(SQS.size(queue)).isEqualTo(2);

            listener.finish();
            SQS.awaitEmpty(queue);
            assertThat(listener.calls()).hasSize(1);
            // The server also logs its late answers, which do not count here.
            assertThat(output)
                    .doesNotContain("ERROR")
                    .doesNotContainPattern("io\\.(exactlyonce|awspring)\\S*Exception");
        }
    }

    /** Trap: a visibility timeout of 5 s or less gave a negative interval, and every message failed. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void handlerLongerThanThreeVisibilityTimeoutsIsCalledOnce(int windowSeconds) {
        queue = SQS.createQueue(windowSeconds);
        try (TestApplication application = start(Patient.class)) {
            Patient listener = application.bean(Patient.class);
            SQS.send(queue, "{\"orderId\":\"o1\"}");
            await().until(() -> listener.calls().size() == 1);

            Duration threeWindows = Duration.ofSeconds(3L * windowSeconds + 1);
            await().during(threeWindows)
                    .atMost(threeWindows.plusSeconds(5))
                    .until(() -> listener.calls().size() == 1 && application.outcomes("held_elsewhere") == 0);
            listener.finish();

            SQS.awaitEmpty(queue);
            assertThat(listener.calls()).hasSize(1);
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(application.bean(SqsRequests.class).received()).hasSize(1);
            assertThat(application.renewals("window", "succeeded")).isGreaterThanOrEqualTo(4);
            assertThat(application.renewals("lease", "succeeded")).isGreaterThanOrEqualTo(4);
        }
    }

    @Test
    void failedHandlerIsRetriedUnderTheSameDownstreamKey() {
        try (TestApplication application = start(Failing.class)) {
            Failing listener = application.bean(Failing.class);
            SQS.send(queue, "{\"orderId\":\"o1\"}");

            SQS.awaitEmpty(queue);
            await().until(() -> application.claims("COMPLETED") == 1);
            assertThat(listener.calls()).hasSize(2);
            Call first = listener.calls().get(0);
            assertThat(listener.calls().get(1)).isEqualTo(new Call("o1", 2, false, first.downstreamKey()));
            assertThat(first.attempt()).isEqualTo(1);
        }
    }
}
