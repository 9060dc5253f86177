package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The shortest windows, in reality: handlers that take three of them. */
@UsesSqs
class ShortWindowIT {

    private static final SqsServer SQS = SqsServer.shared();

    static class Listener {
        private final List<String> calls = new CopyOnWriteArrayList<>();
        private final CountDownLatch finish = new CountDownLatch(1);

        List<String> calls() {
            return calls;
        }

        void finish() {
            finish.countDown();
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) throws InterruptedException {
            calls.add(order);
            finish.await();
        }
    }

    /** Trap: a window of 5 s or less gave a negative interval, and every message failed. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void handlerOfThreeWindowsIsCalledOnce(int windowSeconds) {
        String queue = SQS.createQueue(windowSeconds);
        try (TestApplication application = TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(),
                Map.of("test.queue", queue),
                Listener.class,
                SqsRequests.class)) {
            Listener listener = application.bean(Listener.class);
            SQS.send(queue, "o1");
            await().until(() -> listener.calls().size() == 1);

            Duration threeWindows = Duration.ofSeconds(3L * windowSeconds);
            await().during(threeWindows)
                    .atMost(threeWindows.multipliedBy(2))
                    .until(() -> listener.calls().size() == 1);
            assertThat(application.bean(SqsRequests.class).received()).hasSize(1);
            listener.finish();

            await().atMost(Duration.ofSeconds(20)).until(() -> SQS.size(queue) == 0);
            assertThat(listener.calls()).hasSize(1);
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
        }
    }
}
