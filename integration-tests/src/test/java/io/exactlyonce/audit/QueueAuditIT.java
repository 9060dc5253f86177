package io.exactlyonce.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The audit of queues that have the settings of the incidents, on a server. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class QueueAuditIT {

    private static final SqsServer SQS = SqsServer.shared();

    static class Listener {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order", timeout = "45s")
        void handle(String order) {}
    }

    private static TestApplication start(String queue, String... properties) {
        Map<String, String> all = new java.util.HashMap<>(Map.of("test.queue", queue));
        for (String property : properties) {
            all.put(property.split("=")[0], property.split("=")[1]);
        }
        return TestApplication.start(EmbeddedDatabase.shared().createDatabase(), all, Listener.class);
    }

    @Test
    void visibilityTimeoutOfThirtySecondsWithHandlersOfFortyFiveAndNoDeadLetterQueueIsReported(CapturedOutput output) {
        String queue = SQS.createQueue(30);
        try (TestApplication application = start(queue, "exactly-once.renewal.enabled=false")) {
            await().until(() -> !application.bean(QueueAudit.class).reports().isEmpty());

            assertThat(output)
                    .contains("The audit of listener 'orders' on queue '" + queue + "' found")
                    .containsPattern("ERROR +static-window +")
                    .contains("270s")
                    .containsPattern("ERROR +redrive-policy +no redrive policy");
        }
    }

    @Test
    void oneReceiveBeforeTheDeadLetterQueueFailsStartupIfConfigured(CapturedOutput output) {
        String queue = SQS.createQueue(60, SQS.createQueue(30), 1);

        assertThatThrownBy(() -> start(queue, "exactly-once.audit.mode=fail"))
                .hasRootCauseInstanceOf(QueueAuditException.class);
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("max-receive-count")
                .contains("exactly-once.audit.silence");
    }

    @Test
    void silencedRuleLetsTheApplicationStart() {
        String queue = SQS.createQueue(60, SQS.createQueue(30), 1);
        // Emulators report the retention of queues differently.
        try (TestApplication application = start(
                queue,
                "exactly-once.audit.mode=fail",
                "exactly-once.audit.silence=max-receive-count,dead-letter-retention")) {
            assertThat(application.container("orders").isRunning()).isTrue();
            assertThat(application.bean(QueueAudit.class).reports())
                    .singleElement()
                    .satisfies(report -> assertThat(report.errors()).isEmpty());
        }
    }
}
