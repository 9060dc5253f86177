package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;

/** Listeners without renewal, whose visibility timeouts and leases must cover the handler. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class StaticRenewalIT {

    private static final int WINDOW_SECONDS = 3;
    private static final SqsServer SQS = SqsServer.shared();

    static class Listener {
        private final List<String> events = new CopyOnWriteArrayList<>();
        private final CountDownLatch never = new CountDownLatch(1);

        List<String> events() {
            return events;
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order", timeout = "${test.timeout}")
        void handle(String order, Claim claim) throws InterruptedException {
            events.add("attempt " + claim.attempt());
            if (claim.attempt() == 1) {
                try {
                    never.await();
                } finally {
                    events.add("interrupted");
                }
            }
        }
    }

    private final String queue = SQS.createQueue(WINDOW_SECONDS);

    private TestApplication start(String timeout) {
        return TestApplication.on(
                queue,
                Map.of("test.timeout", timeout, "exactly-once.renewal.enabled", "false"),
                Listener.class,
                SqsRequests.class);
    }

    @Test
    void handlerIsInterruptedWhenItsLeaseIsAboutToEnd(CapturedOutput output) {
        try (TestApplication application = start("")) {
            Listener listener = application.bean(Listener.class);
            SqsRequests requests = application.bean(SqsRequests.class);
            SQS.send(queue, "o1");
            await().until(() -> listener.events().contains("interrupted"));
            assertThat(requests.of(ChangeMessageVisibilityBatchRequest.class)).isEmpty();

            SQS.awaitEmpty(queue);

            assertThat(listener.events()).containsExactly("attempt 1", "interrupted", "attempt 2");
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            assertThat(output)
                    .contains("The audit of listener 'orders' on queue '" + queue + "' found")
                    .contains("renewal is off")
                    .contains("has no timeout");
        }
    }
}
