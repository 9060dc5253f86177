package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The shortest windows, in reality: handlers that take three of them. */
@UsesSqs
class ShortWindowIT {

    private static final SqsServer SQS = SqsServer.shared();

    /** Trap: a window of 5 s or less gave a negative interval, and every message failed. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void handlerOfThreeWindowsIsCalledOnce(int windowSeconds) {
        String queue = SQS.createQueue(windowSeconds);
        try (TestApplication application = TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(),
                Map.of("test.queue", queue),
                BlockingListener.class,
                SqsRequests.class)) {
            BlockingListener listener = application.bean(BlockingListener.class);
            SQS.send(queue, "o1");
            await().until(() -> listener.calls().size() == 1);

            Duration threeWindows = Duration.ofSeconds(3L * windowSeconds);
            await().during(threeWindows)
                    .atMost(threeWindows.multipliedBy(2))
                    .until(() -> listener.calls().size() == 1);
            assertThat(application.bean(SqsRequests.class).received()).hasSize(1);
            listener.finish();

            await().atMost(Duration.ofSeconds(20)).until(() -> SQS.size(queue) == 0);
            assertThat(listener.orders()).hasSize(1);
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
        }
    }
}
