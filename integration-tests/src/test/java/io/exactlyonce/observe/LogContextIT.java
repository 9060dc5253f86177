package io.exactlyonce.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceEvent;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.slf4j.MDC;
import org.springframework.context.event.EventListener;

/** The log lines of handlers, on their own threads and on others, and the events that an application receives. */
@UsesSqs
class LogContextIT {

    private static final SqsServer SQS = SqsServer.shared();

    private static final List<Map<String, String>> CONTEXTS = new CopyOnWriteArrayList<>();
    private static final List<String> THREADS = new CopyOnWriteArrayList<>();
    private static final List<Object> EVENTS = new CopyOnWriteArrayList<>();

    static class Listener {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", scope = "orders", key = "#order")
        CompletableFuture<Void> handle(String order, Claim claim) {
            CONTEXTS.add(MDC.getCopyOfContextMap());
            THREADS.add(Thread.currentThread().toString());
            Runnable work = () -> CONTEXTS.add(MDC.getCopyOfContextMap());
            return CompletableFuture.runAsync(
                    ContextSnapshotFactory.builder().build().captureAll().wrap(work));
        }

        @EventListener
        void happened(ExactlyOnceEvent event) {
            EVENTS.add(event);
        }
    }

    @BeforeEach
    void forget() {
        CONTEXTS.clear();
        THREADS.clear();
        EVENTS.clear();
    }

    @Test
    @EnabledForJreRange(
            min = JRE.JAVA_21,
            disabledReason = "There are virtual threads from Java 21 on: run the build with such a JDK")
    void linesOfAVirtualThreadSayTheSame() {
        String queue = SQS.createQueue(30);
        try (TestApplication application =
                TestApplication.on(queue, Map.of("spring.threads.virtual.enabled", "true"), Listener.class)) {
            SQS.send(queue, "o1");
            await().until(() -> application.claims("COMPLETED") == 1);

            assertThat(THREADS).singleElement().asString().startsWith("VirtualThread[");
            assertThat(CONTEXTS)
                    .hasSize(2)
                    .allSatisfy(context -> assertThat(context)
                            .containsEntry("listener", "orders")
                            .containsEntry("attempt", "1")
                            .containsEntry("receiveCount", "1")
                            .containsKeys("keyHash", "claim"));
        }
    }

    @Test
    void handlersThreadAndTheOneBehindItSayTheSame() {
        String queue = SQS.createQueue(30);
        try (TestApplication application = TestApplication.on(queue, Listener.class)) {
            SQS.send(queue, "o1");
            await().until(() -> application.claims("COMPLETED") == 1);

            assertThat(CONTEXTS).hasSize(2);
            assertThat(CONTEXTS.get(0))
                    .containsEntry("listener", "orders")
                    .containsEntry("attempt", "1")
                    .containsEntry("receiveCount", "1")
                    .containsKeys("keyHash", "claim")
                    .doesNotContainValue("o1");
            assertThat(CONTEXTS.get(1)).containsAllEntriesOf(CONTEXTS.get(0));
            SQS.send(queue, "o1");
            await().untilAsserted(() -> assertThat(EVENTS)
                    .contains(new ExactlyOnceEvent.DuplicateSuppressed(
                            "orders", queue, CONTEXTS.get(0).get("keyHash"))));
        }
    }
}
