package io.exactlyonce.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.wire.AwsAnswers;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.SqsException;

/**
 * A party that may also receive from the queue, change visibility and delete, as AWS answers it. It can delay and delete messages,
 * but have no key handled by two handlers at once, and no completed key handled again.
 */
class HostileConsumerIT {

    private static final SqsServer SQS = SqsServer.through(new AwsAnswers(SqsServer.elasticMq(), System::nanoTime));
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int MESSAGES = 12;
    private static final int HOURS_12 = 43_200;

    private static final Map<String, AtomicInteger> CALLS = new ConcurrentHashMap<>();
    private static final Map<String, AtomicInteger> RUNNING = new ConcurrentHashMap<>();
    private static final AtomicInteger OVERLAPS = new AtomicInteger();
    private static volatile CountDownLatch gate = new CountDownLatch(1);

    static class Listener {

        @ExactlyOnceListener(
                id = "attacked",
                queueNames = "${test.queue}",
                key = "#order",
                maxConcurrentMessages = "30")
        void handle(String order) throws InterruptedException {
            AtomicInteger running = RUNNING.computeIfAbsent(order, first -> new AtomicInteger());
            if (running.incrementAndGet() > 1) {
                OVERLAPS.incrementAndGet();
            }
            CALLS.computeIfAbsent(order, first -> new AtomicInteger()).incrementAndGet();
            gate.await();
            running.decrementAndGet();
        }
    }

    private final String queue = SQS.createQueue(5);
    private final Map<String, String> handles = new HashMap<>();
    private TestApplication application;

    @BeforeEach
    void receiveBeforeTheListener() {
        CALLS.clear();
        RUNNING.clear();
        OVERLAPS.set(0);
        gate = new CountDownLatch(1);
        for (int number = 0; number < MESSAGES; number++) {
            SQS.send(queue, "order " + number);
        }
        await().atMost(SOON).until(() -> {
            receive().forEach(message -> handles.put(message.messageId(), message.receiptHandle()));
            return handles.size() == MESSAGES;
        });
        Map<String, String> properties = new HashMap<>(SQS.properties());
        properties.put("test.queue", queue);
        application = TestApplication.start(EmbeddedDatabase.shared().createDatabase(), properties, Listener.class);
    }

    @AfterEach
    void stop() {
        gate.countDown();
        application.close();
    }

    /** Messages stay visible. */
    private List<Message> receive() {
        return SQS.client()
                .receiveMessage(request -> request.queueUrl(SQS.urlOf(queue))
                        .maxNumberOfMessages(10)
                        .visibilityTimeout(0))
                .messages();
    }

    private void change(String handle, int seconds) {
        try {
            SQS.client()
                    .changeMessageVisibility(request -> request.queueUrl(SQS.urlOf(queue))
                            .receiptHandle(handle)
                            .visibilityTimeout(seconds));
        } catch (SqsException visible) {
            // The message is visible already, or gone.
        }
    }

    private double waiting() {
        return application.bean(MeterRegistry.class).find("exactly.once.waiting").gauges().stream()
                .mapToDouble(Gauge::value)
                .sum();
    }

    private int calls() {
        return CALLS.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    @Test
    void exposedHiddenAndStolenMessagesAreHandledByOneHandlerOnce() {
        await().atMost(SOON).until(() -> CALLS.size() == MESSAGES);

        List<String> all = new ArrayList<>(handles.values());
        all.forEach(handle -> change(handle, 0));
        await().atMost(SOON).until(() -> waiting() >= 1);
        for (int round = 0; round < 5; round++) {
            all.forEach(handle -> change(handle, 0));
            receive().forEach(stolen -> change(stolen.receiptHandle(), round(stolen)));
        }
        gate.countDown();

        await().atMost(SOON).until(() -> application.claims("COMPLETED") == MESSAGES);
        // Completed keys are exposed once more, if their messages are still there.
        receive().forEach(left -> change(left.receiptHandle(), 0));
        await().during(Duration.ofSeconds(2)).atMost(SOON).until(() -> calls() == MESSAGES);
        assertThat(OVERLAPS).hasValue(0);
        assertThat(CALLS).hasSize(MESSAGES);
    }

    /** Some are hidden for as long as SQS allows, and others exposed again. */
    private static int round(Message stolen) {
        return stolen.body().hashCode() % 2 == 0 ? HOURS_12 : 0;
    }

    /** S19: the fingerprint does not cover attributes. */
    @Test
    void messageWithOtherAttributesIsADuplicate() {
        gate.countDown();
        await().atMost(SOON).until(() -> application.claims("COMPLETED") == MESSAGES);

        MessageAttributeValue other = MessageAttributeValue.builder()
                .dataType("String")
                .stringValue("forged")
                .build();
        SQS.client()
                .sendMessage(request -> request.queueUrl(SQS.urlOf(queue))
                        .messageBody("order 1")
                        .messageAttributes(Map.of("tenant", other)));

        SQS.awaitEmpty(queue);
        assertThat(CALLS.get("order 1")).hasValue(1);
        assertThat(application
                        .bean(MeterRegistry.class)
                        .find("exactly.once.claims")
                        .tag("outcome", "mismatch")
                        .counters())
                .allMatch(counter -> counter.count() == 0);
    }
}
