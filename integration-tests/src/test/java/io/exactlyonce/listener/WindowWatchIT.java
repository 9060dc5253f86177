package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.exactlyonce.window.WindowObserver;
import io.exactlyonce.window.WindowWarning;
import io.exactlyonce.window.WindowWatch;
import io.exactlyonce.window.WindowWatch.ListenerWindow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A real handler that becomes slower and slower. A stall of the machine delays all deliveries in flight, which are
 * less than a twentieth of all, so it does not move p95.
 */
@Tag("ci")
@UsesSqs
class WindowWatchIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final int WINDOW_SECONDS = 4;
    private static final int MESSAGES = 480;

    static class Listener {
        private static final Duration SLOWER_BY = Duration.ofMillis(12);
        private final AtomicInteger calls = new AtomicInteger();
        private final CountDownLatch never = new CountDownLatch(1);

        /** Waits for as long as a slow partner would; each call takes longer than the one before it. */
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order", maxConcurrentMessages = "10")
        void handle(String order) throws InterruptedException {
            boolean unused = never.await(SLOWER_BY.toMillis() * calls.incrementAndGet(), TimeUnit.MILLISECONDS);
        }
    }

    static class Warnings implements WindowObserver {
        private final List<WindowWarning> told = new CopyOnWriteArrayList<>();

        @Override
        public void warned(Subscription subscription, WindowWarning warning) {
            assertThat(subscription.listener()).isEqualTo("orders");
            told.add(warning);
        }

        List<WindowWarning> told() {
            return told;
        }
    }

    @Test
    void warningComesBeforeTheFirstOverrunAndThresholdsAreReportedOnce() {
        String queue = SQS.createQueue(WINDOW_SECONDS);
        try (TestApplication application = TestApplication.on(queue, Listener.class, Warnings.class);
                CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < MESSAGES; i++) {
                SQS.send(queue, "o" + i);
            }
            List<WindowWarning> told = application.bean(Warnings.class).told();
            await().atMost(Duration.ofSeconds(180))
                    .until(() -> told.stream().anyMatch(each -> each.kind() == WindowWarning.Kind.BREACHED));

            WindowWarning first = told.get(0);
            assertThat(first.utilization()).as("%s", told).isLessThan(1);
            assertThat(first.kind()).isNotEqualTo(WindowWarning.Kind.BREACHED);
            assertThat(told).extracting(WindowWarning::kind).doesNotHaveDuplicates();
            // Told before it is logged.
            await().untilAsserted(() -> assertThat(log.text())
                    .containsOnlyOnce("WARN WindowWatch - listener 'orders' on queue '" + queue
                            + "': deliveries outlast their visibility timeout")
                    .contains("% of the visibility timeout of 4 s"));

            ListenerWindow window =
                    application.bean(WindowWatch.class).windows().get(0);
            assertThat(window.utilization()).isGreaterThan(1);
            assertThat(window.advice().cli()).contains("--queue-name " + queue);
            assertThat(window.advice().rule().formula()).isEqualTo("2 x p50");
        }
    }
}
