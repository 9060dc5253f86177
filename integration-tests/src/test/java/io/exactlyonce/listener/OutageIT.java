package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.listener.BlockingListener.Call;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;

/** The claim database becomes unavailable and returns. Its connections break, and it refuses new ones meanwhile. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class OutageIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final EmbeddedDatabase DATABASE = EmbeddedDatabase.shared();

    private static final int WINDOW_SECONDS = 2;

    private final String queue = SQS.createQueue(WINDOW_SECONDS);
    private final String database = DATABASE.createDatabase();

    private TestApplication start(Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(properties);
        all.put("test.queue", queue);
        all.put("exactly-once.datasource.connection-timeout", "1s");
        return TestApplication.start(database, all, BlockingListener.class, SqsRequests.class);
    }

    private static void awaitCall(TestApplication application) {
        await().until(() -> application.bean(BlockingListener.class).calls().size() == 1);
    }

    private void assertAcknowledgedAfter(TestApplication application, Call... calls) {
        SQS.awaitEmpty(queue);
        assertThat(application.bean(BlockingListener.class).calls()).containsExactly(calls);
        assertThat(application.claims("COMPLETED")).isEqualTo(1);
    }

    @Test
    void handlerContinuesDuringAnOutageThatIsShorterThanTheLease() {
        try (TestApplication application = start(Map.of(
                "exactly-once.claim.lease", "10s",
                "exactly-once.renewal.at", "0.1"))) {
            SQS.send(queue, "o1");
            awaitCall(application);

            DATABASE.disconnect(database);
            await().until(() -> application.renewals("lease", "failed") >= 1);
            double renewed = application.renewals("lease", "succeeded");
            DATABASE.reconnect(database);
            await().until(() -> application.renewals("lease", "succeeded") > renewed);

            BlockingListener listener = application.bean(BlockingListener.class);
            assertThat(listener.wasInterrupted()).isFalse();
            listener.finish();
            assertAcknowledgedAfter(application, new Call("o1", 1, false));
        }
    }

    @Test
    void completionIsRepeatedUntilTheDatabaseIsBack(CapturedOutput output) {
        try (TestApplication application = start(Map.of())) {
            SQS.send(queue, "o1");
            awaitCall(application);

            DATABASE.disconnect(database);
            application.bean(BlockingListener.class).finish();
            await().until(() -> output.toString().contains("Recording the outcome of"));
            Duration longerThanTheLease = Duration.ofMillis(2_500);
            await().during(longerThanTheLease).until(() -> SQS.size(queue) == 1);
            DATABASE.reconnect(database);

            assertAcknowledgedAfter(application, new Call("o1", 1, false));
        }
    }

    @Test
    void handlerIsInterruptedByAnOutageLongerThanTheLeaseAndTheNextAttemptIsInDoubt() {
        try (TestApplication application = start(Map.of())) {
            BlockingListener listener = application.bean(BlockingListener.class);
            SQS.send(queue, "o1");
            awaitCall(application);

            DATABASE.disconnect(database);
            await().until(listener::wasInterrupted);
            listener.finish();
            DATABASE.reconnect(database);

            assertAcknowledgedAfter(application, new Call("o1", 1, false), new Call("o1", 2, true));
        }
    }

    @Test
    void messageThatArrivesDuringAnOutageIsHandledOnceAfterIt(CapturedOutput output) {
        try (TestApplication application = start(Map.of())) {
            BlockingListener listener = application.bean(BlockingListener.class);
            listener.finish();

            DATABASE.disconnect(database);
            SQS.send(queue, "o1");
            await().until(() -> output.toString().contains("Claiming"));
            await().during(Duration.ofMillis(2_500)).until(() -> SQS.size(queue) == 1);
            assertThat(listener.calls()).isEmpty();
            DATABASE.reconnect(database);

            assertAcknowledgedAfter(application, new Call("o1", 1, false));
        }
    }

    /**
     * Waits for more than two visibility timeouts. By then each message would have been redelivered until it ended in
     * the dead-letter queue.
     */
    @Test
    void listenerIsPausedDuringALongOutageAndNoMessageEndsInTheDeadLetterQueue(CapturedOutput output) {
        String deadLetters = SQS.addDeadLetterQueue(queue, 3);
        try (TestApplication application = start(Map.of())) {
            BlockingListener listener = application.bean(BlockingListener.class);
            SqsRequests requests = application.bean(SqsRequests.class);
            listener.finish();
            assertThat(isPaused(application)).isFalse();

            DATABASE.disconnect(database);
            List<String> orders = List.of("o1", "o2", "o3", "o4", "o5");
            orders.forEach(order -> SQS.send(queue, order));
            await().atMost(Duration.ofSeconds(20)).until(() -> isPaused(application));
            SQS.send(queue, "late");
            await().atMost(Duration.ofSeconds(20)).until(() -> waiting(application) >= orders.size());
            int polls = requests.of(ReceiveMessageRequest.class).size();
            Duration twoWindows = Duration.ofSeconds(2 * WINDOW_SECONDS + 1);
            // Trials begin after pauses of 1, 2 and 4 s, so at most two begin within five seconds. Each trial ends with
            // the next claim that gets no answer. Until then, its poll keeps all free permits while it waits for
            // messages. Only the poll that fetches the late message returns at once, and another poll may follow in the
            // same trial. The total is three polls.
            await().during(twoWindows)
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> requests.of(ReceiveMessageRequest.class).size() <= polls + 3);
            assertThat(isPaused(application)).isTrue();
            DATABASE.reconnect(database);

            SQS.awaitEmpty(queue);
            assertThat(listener.calls())
                    .extracting(Call::order)
                    .containsExactlyInAnyOrder("o1", "o2", "o3", "o4", "o5", "late");
            assertThat(SQS.size(deadLetters)).isZero();
            assertThat(requests.mostReceives()).isLessThanOrEqualTo(3);
            assertThat(isPaused(application)).isFalse();
            assertThat(waiting(application)).isZero();
            assertThat(output.getAll()).contains("is paused: 3 claims in a row got no answer", "polls again");
        }
    }

    /** The watch holds no message forever: R11. */
    @Test
    void listenerThatStopsDuringAnOutageReturnsWhatWaits() {
        try (TestApplication application = start(Map.of())) {
            application.bean(BlockingListener.class).finish();
            DATABASE.disconnect(database);
            SQS.send(queue, "o1");
            await().atMost(Duration.ofSeconds(20)).until(() -> waiting(application) == 1);

            application.container("orders").stop();

            assertThat(waiting(application)).isZero();
            assertThat(isPaused(application)).isFalse();
            await().atMost(Duration.ofSeconds(5)).until(() -> SQS.visible(queue) == 1);
            DATABASE.reconnect(database);
            application.container("orders").start();
            assertAcknowledgedAfter(application, new Call("o1", 1, false));
        }
    }

    private static boolean isPaused(TestApplication application) {
        return application.gauge("exactly.once.listener.paused", "listener", "orders") > 0;
    }

    private static double waiting(TestApplication application) {
        return application.gauge("exactly.once.waiting", "listener", "orders");
    }
}
