package io.exactlyonce.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.MessageExecutionThreadFactory;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;

/** Ten thousand deliveries at the same time in one application, each for several visibility timeouts. */
@LoadTrial
class ManyInFlightIT {

    private static final int MESSAGES = Trial.choose(10_000, 500);
    private static final int WINDOW_SECONDS = 30;
    private static final Duration HELD = Duration.ofSeconds(Trial.choose(75, 18));

    private static final int THREADS = 20;

    /** Threads of the container, the SDK, claims, renewals, pools and the audit. */
    private static final int MOST_THREADS = 80;

    /**
     * The memory of a message, its delivery, visibility timeout and lease, and the test's own record of the receive.
     */
    private static final long MOST_BYTES = 16_384;

    /** The memory of the application without any delivery. */
    private static final long MOST_BYTES_ALONE = 40_000_000;

    private static final SqsServer SQS = SqsServer.shared();

    static class Listener extends HeldOrders {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        CompletableFuture<Void> order(String order) {
            return handle(order);
        }
    }

    private final String deadLetters = SQS.createQueue(30);
    private final String queue = SQS.createQueue(WINDOW_SECONDS, deadLetters, 5);

    private TestApplication start() {
        TestApplication application = TestApplication.on(
                queue,
                Map.of(
                        "spring.cloud.aws.sqs.listener.auto-startup",
                        "false",
                        "spring.cloud.aws.sqs.listener.max-concurrent-messages",
                        String.valueOf(MESSAGES)),
                Listener.class,
                SqsRequests.class);
        application.container("orders").configure(ManyInFlightIT::shareThreads);
        application.container("orders").start();
        return application;
    }

    /**
     * Spring Cloud AWS's own executor starts a thread for each message in flight, even if handlers return a future at
     * once.
     */
    private static void shareThreads(SqsContainerOptionsBuilder options) {
        ThreadPoolTaskExecutor threads = new ThreadPoolTaskExecutor();
        threads.setThreadFactory(new MessageExecutionThreadFactory("orders-"));
        threads.setCorePoolSize(THREADS);
        threads.initialize();
        options.componentsTaskExecutor(threads);
    }

    @Test
    void eachIsHandledOnceAndNoVisibilityTimeoutAndNoLeaseIsLost() throws Exception {
        Senders.send(SQS, queue, MESSAGES, number -> "order-" + number);
        Footprint footprint = Footprint.begin();
        try (TestApplication application = start()) {
            HeldOrders orders = application.bean(Listener.class);
            SqsRequests requests = application.bean(SqsRequests.class);
            await().atMost(Duration.ofMinutes(2)).until(() -> orders.runs().size() == MESSAGES);
            int before = changes(requests);

            Trial.hold(HELD, () -> application.claims("HELD") == MESSAGES);
            double perMinute = (changes(requests) - before) * 60.0 / HELD.toSeconds();
            long bytes = footprint.heapBytes();
            orders.release();
            await().atMost(Duration.ofMinutes(1)).until(() -> SQS.size(queue) == 0);

            orders.assertEachOnce(MESSAGES);
            assertThat(application.claims("COMPLETED")).isEqualTo(MESSAGES);
            Trial.assertNothingLost(application, "orders");
            assertThat(requests.mostReceives()).isEqualTo(1);
            assertThat(SQS.size(deadLetters)).isZero();
            // A separate timer for each message would send two requests in each visibility timeout.
            assertThat(perMinute).isLessThan(0.2 * MESSAGES * 2 * 60 / WINDOW_SECONDS);
            assertThat(footprint.mostThreads()).isLessThan(MOST_THREADS);
            assertThat(bytes).isLessThan(MOST_BYTES_ALONE + MOST_BYTES * MESSAGES);
            Trial.note(
                    "1-in-flight",
                    "%,d in flight for %d s, window %d s".formatted(MESSAGES, HELD.toSeconds(), WINDOW_SECONDS),
                    "each handled and received once; no window or lease lost",
                    "%,.0f requests a minute that change visibility; %d threads; %.0f MB of heap, the application's and the test's own included"
                            .formatted(perMinute, footprint.mostThreads(), bytes / 1e6));
        }
    }

    private static int changes(SqsRequests requests) {
        return requests.of(ChangeMessageVisibilityBatchRequest.class).size();
    }
}
