package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.exactlyonce.listener.BlockingListener.Call;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;

/** Listeners are stopped and started while their application runs. */
@UsesSqs
class ContainerRestartIT {

    private static final int WINDOW_SECONDS = 2;
    private static final SqsServer SQS = SqsServer.shared();

    private static final int SHORT_POLL = 1;
    private static final Duration SHUTDOWN_TIMEOUT = Duration.ofMillis(1_500);
    private static final int LONG_POLL = 5;

    /**
     * The prefix of our threads' names: one thread for each kind of work, plus the threads of claims and their pool.
     */
    private static final String OUR_THREADS = "exactly-once-";

    private static final String POOL_THREADS = "exactly-once-claims";

    private final String queue = SQS.createQueue(WINDOW_SECONDS);

    private TestApplication start(int pollSeconds) {
        TestApplication application = TestApplication.on(
                queue,
                Map.of(
                        "spring.cloud.aws.sqs.listener.auto-startup",
                        "false",
                        "spring.cloud.aws.sqs.listener.poll-timeout",
                        pollSeconds + "s"),
                BlockingListener.class,
                SqsRequests.class);
        SqsMessageListenerContainer<?> container = application.container("orders");
        container.configure(options -> options.listenerShutdownTimeout(SHUTDOWN_TIMEOUT));
        container.start();
        return application;
    }

    /**
     * A poll may still run after the stop. Spring Cloud AWS would cancel it, and the failed poll would prevent the stop
     * of the rest.
     */
    @ParameterizedTest
    @ValueSource(ints = {SHORT_POLL, LONG_POLL})
    void handlerThatOutlastsTheStopIsInterruptedAndItsMessageHandledAgainAfterTheStart(int pollSeconds) {
        try (TestApplication application = start(pollSeconds)) {
            BlockingListener listener = application.bean(BlockingListener.class);
            SQS.send(queue, "o1");
            await().until(() -> listener.calls().size() == 1);
            await().until(() -> polls(application) >= 2);

            application.container("orders").stop();
            assertThat(listener.wasInterrupted()).isTrue();
            assertThat(application.claims("RELEASED")).isEqualTo(1);
            assertThatNothingIsRenewed(application);
            listener.finish();
            application.container("orders").start();

            SQS.awaitEmpty(queue);
            assertThat(listener.calls()).containsExactly(new Call("o1", 1, false), new Call("o1", 2, true));
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
            application.container("orders").stop();
            awaitNoThreadsOf("orders");
        }
    }

    @Test
    void containerThatIsRestartedLeavesNeitherThreadsNorDeliveries() {
        // The threads of an earlier application end after some idle time.
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(threads()).isEmpty());
        try (TestApplication application = start(SHORT_POLL)) {
            BlockingListener listener = application.bean(BlockingListener.class);
            SqsMessageListenerContainer<?> container = application.container("orders");
            for (int restart = 0; restart < 2; restart++) {
                container.stop();
                container.start();
            }
            SQS.send(queue, "o1");
            await().until(() -> application.renewals("lease", "succeeded") >= 1);
            listener.finish();
            SQS.awaitEmpty(queue);
            container.stop();

            assertThatNothingIsRenewed(application);
            assertThat(threads())
                    .filteredOn(name -> !name.startsWith(POOL_THREADS))
                    // Two threads run the renewals that are due.
                    .extracting(name -> name.replaceFirst("(?<!renewal)-\\d+$", ""))
                    .isNotEmpty()
                    .doesNotHaveDuplicates();
            // The attempt number may differ, because a poll of an earlier container may have received and returned the
            // message.
            assertThat(listener.orders()).containsExactly("o1");
        }
        awaitNoThreadsOf("orders");
        await().untilAsserted(() -> assertThat(threads()).isEmpty());
    }

    /**
     * Waits for the end of the threads that poll, handle and delete. Spring Cloud AWS owns these threads and names them
     * after the listener.
     */
    private static void awaitNoThreadsOf(String listener) {
        await().untilAsserted(() -> assertThat(names())
                .noneMatch(name -> name.startsWith(listener + "-") || name.startsWith(listener + "#")));
    }

    private static void assertThatNothingIsRenewed(TestApplication application) {
        long soFar = windowRenewals(application);
        await().during(Duration.ofSeconds(WINDOW_SECONDS)).until(() -> windowRenewals(application) == soFar);
    }

    /** Counts renewals only. A return sends the same request with a shorter time. */
    private static long windowRenewals(TestApplication application) {
        return application.bean(SqsRequests.class).of(ChangeMessageVisibilityBatchRequest.class).stream()
                .flatMap(request -> request.entries().stream())
                .filter(entry -> entry.visibilityTimeout() == WINDOW_SECONDS)
                .count();
    }

    private static int polls(TestApplication application) {
        return application
                .bean(SqsRequests.class)
                .of(ReceiveMessageRequest.class)
                .size();
    }

    private static List<String> threads() {
        return names().stream().filter(name -> name.startsWith(OUR_THREADS)).toList();
    }

    private static List<String> names() {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).toList();
    }
}
