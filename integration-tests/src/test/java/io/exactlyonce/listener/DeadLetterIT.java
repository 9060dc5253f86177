package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceEvent.LastReceiveFailed;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.DeadLetterQueue;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.event.EventListener;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/** Messages that must not be handled end in the dead-letter queue, without their handler. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class DeadLetterIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final Duration LONG = Duration.ofSeconds(30);

    static class CardExpired extends RuntimeException {}

    record Order(String orderId, int amount) {}

    static class Listener {
        private final List<Order> calls = new CopyOnWriteArrayList<>();

        private final List<LastReceiveFailed> failures = new CopyOnWriteArrayList<>();

        List<Order> calls() {
            return calls;
        }

        List<LastReceiveFailed> failures() {
            return failures;
        }

        @EventListener
        void failedOnItsLastReceive(LastReceiveFailed event) {
            failures.add(event);
        }

        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#order.orderId",
                parkFor = CardExpired.class)
        void handle(Order order) {
            calls.add(order);
            if (order.amount() == 0) {
                throw new CardExpired();
            }
            if (order.amount() == 13) {
                throw new IllegalStateException("out of luck");
            }
        }
    }

    private final String deadLetters = SQS.createQueue(30);
    private final String queue = SQS.createQueue(2, deadLetters, 2);

    private TestApplication start() {
        return start(Map.of());
    }

    private TestApplication start(Map<String, String> properties) {
        return TestApplication.on(queue, properties, Listener.class);
    }

    @Test
    void exceptionForWhichTryingAgainIsOfNoUseParksTheKeyAndItsMessageEndsInTheDeadLetterQueue() {
        try (TestApplication application = start()) {
            SQS.send(queue, "{\"orderId\":\"o1\",\"amount\":0}");

            await().atMost(LONG).until(() -> SQS.size(deadLetters) == 1);
            assertThat(SQS.size(queue)).isZero();
            assertThat(application.bean(Listener.class).calls()).hasSize(1);
            assertThat(application.bean(ParkedKeys.class).find(queue, "o1")).hasValueSatisfying(parked -> {
                assertThat(parked.reason()).contains("CardExpired");
                assertThat(parked.isInDoubt()).isFalse();
            });
            assertThat(application.outcomes("parked")).isEqualTo(1);
        }
    }

    @Test
    void lastOfMaxAttemptsParksTheKeyThatAnOperatorThenReleases(CapturedOutput output) {
        String patient = SQS.createQueue(5, deadLetters, 2);
        Map<String, String> own = Map.of(
                "exactly-once.listeners.orders.max-attempts", "2",
                "exactly-once.retry.initial-delay", "1s");
        try (TestApplication application = TestApplication.on(patient, own, Listener.class)) {
            SQS.send(patient, "{\"orderId\":\"o1\",\"amount\":13}");

            await().atMost(LONG).until(() -> SQS.size(deadLetters) == 1);
            assertThat(application.bean(Listener.class).calls()).hasSize(2);
            ParkedKeys keys = application.bean(ParkedKeys.class);
            ParkedClaim parked = keys.find(patient, "o1").orElseThrow();
            assertThat(parked.reason())
                    .isEqualTo("maxAttempts (2) is reached: java.lang.IllegalStateException: out of luck");
            assertThat(parked.attempt()).isEqualTo(2);
            assertThat(application.texts("SELECT failures FROM exactly_once_claim"))
                    .containsExactly("2");

            assertThat(keys.release(parked)).isTrue();
            SQS.send(patient, "{\"orderId\":\"o1\",\"amount\":13}");

            await().atMost(LONG).until(() -> SQS.size(deadLetters) == 2);
            assertThat(application.bean(Listener.class).calls())
                    .as("it has all of its attempts again")
                    .hasSize(4);
            // The second attempt of each message was also its last receive.
            LastReceiveFailed last =
                    new LastReceiveFailed("orders", patient, new ClaimKey(patient, "o1").keyHash(), 2, 2, deadLetters);
            await().untilAsserted(() ->
                    assertThat(application.bean(Listener.class).failures()).containsExactly(last, last));
            assertThat(output)
                    .contains("its key is parked until an operator decides, and its queue moves the message to the"
                            + " dead-letter queue");
        }
    }

    @Test
    void listenersOwnSettingsWinOverThoseForAll(CapturedOutput output) {
        Map<String, String> own = Map.of(
                "exactly-once.claim.on-mismatch", "refuse",
                "exactly-once.listeners.orders.on-mismatch", "warn",
                "exactly-once.listeners.orders.lease", "2m",
                "exactly-once.listeners.orders.timeout", "90s",
                "exactly-once.listeners.orders.retention", "30d");
        try (TestApplication application = start(own)) {
            SQS.send(queue, "{\"orderId\":\"o1\",\"amount\":10}");
            await().atMost(LONG).until(() -> application.claims("COMPLETED") == 1);

            SQS.send(queue, "{\"orderId\":\"o1\",\"amount\":4242}");

            await().atMost(LONG).until(() -> application.outcomes("mismatch") == 1);
            SQS.awaitEmpty(queue);
            assertThat(application.bean(Listener.class).calls()).containsExactly(new Order("o1", 10));
            assertThat(application.texts("SELECT extract(day FROM expires_at - claimed_at) FROM exactly_once_claim"))
                    .containsExactly("30");
            assertThat(output)
                    .contains("is treated as a duplicate")
                    .contains("lease 2m renewed every 1m, timeout 1m30s,", "retention 30d");
        }
    }

    @Test
    void chosenDeadLetterComesBackWithItsAttributesAndOthersStay() {
        SdkBytes bytes = SdkBytes.fromByteArray(new byte[] {0, (byte) 0xFF, 10});
        try (TestApplication application = TestApplication.on(SQS.createQueue(30), Listener.class)) {
            SqsQueue source = new SqsQueue(
                    application.bean(SqsAsyncClient.class), SQS.urlOf(queue), VisibilityWindow.ofSeconds(30));
            source.watch(source.readAttributes(LONG).join(), read -> {});
            SQS.client()
                    .sendMessage(request -> request.queueUrl(SQS.urlOf(deadLetters))
                            .messageBody("\u00fc chosen")
                            .messageAttributes(Map.of(
                                    "bytes",
                                    MessageAttributeValue.builder()
                                            .dataType("Binary.png")
                                            .binaryValue(bytes)
                                            .build(),
                                    "text",
                                    MessageAttributeValue.builder()
                                            .dataType("String")
                                            .stringValue("\u00fc")
                                            .build())));
            SQS.send(deadLetters, "left");
            DeadLetterQueue dead = Objects.requireNonNull(DeadLetterQueue.of(source, InstantSource.system()));
            await().untilAsserted(() -> assertThat(dead.look().messages()).hasSize(2));
            AtomicBoolean isFound = new AtomicBoolean();

            DeadLetterQueue.Search search = dead.redrive(
                    message -> {
                        boolean isChosen = message.body().endsWith("chosen");
                        isFound.compareAndSet(false, isChosen);
                        return isChosen;
                    },
                    isFound::get);

            assertThat(search.redriven()).singleElement().satisfies(done -> {
                assertThat(done.isSent()).isTrue();
                assertThat(done.problem()).isNull();
            });
            List<Message> back = SQS.client()
                    .receiveMessage(request -> request.queueUrl(SQS.urlOf(queue))
                            .waitTimeSeconds(5)
                            .messageAttributeNames("All"))
                    .messages();
            assertThat(back).singleElement().satisfies(message -> {
                assertThat(message.body()).isEqualTo("\u00fc chosen");
                assertThat(message.messageAttributes()).containsOnlyKeys("bytes", "text");
                assertThat(message.messageAttributes().get("bytes").binaryValue())
                        .isEqualTo(bytes);
                assertThat(message.messageAttributes().get("bytes").dataType()).isEqualTo("Binary.png");
                assertThat(message.messageAttributes().get("text").stringValue())
                        .isEqualTo("\u00fc");
            });
            assertThat(SQS.visible(deadLetters)).isEqualTo(1);
        }
    }

    /**
     * The message is sent and then dead-lettered within five minutes. SQS would drop the copy as a duplicate, and the
     * delete would lose the message.
     */
    @Test
    void fifoDeadLetterIsNotSentBackBeforeItsDeduplicationIsOver() {
        String fifo = SQS.createFifoQueue(30, 5);
        String dead = SqsServer.deadLettersOf(fifo);
        try (TestApplication application = TestApplication.on(SQS.createQueue(30), Listener.class)) {
            SqsQueue source = new SqsQueue(
                    application.bean(SqsAsyncClient.class), SQS.urlOf(fifo), VisibilityWindow.ofSeconds(30));
            source.watch(source.readAttributes(LONG).join(), read -> {});
            SQS.send(dead, "customer-1", "d-1", "order");
            AtomicBoolean isFound = new AtomicBoolean();

            DeadLetterQueue.Search search = Objects.requireNonNull(DeadLetterQueue.of(source, InstantSource.system()))
                    .redrive(message -> isFound.compareAndSet(false, true), isFound::get);

            assertThat(search.redriven())
                    .singleElement()
                    .satisfies(left -> assertThat(left.problem()).contains("repeat this after"));
            assertThat(SQS.visible(dead)).isEqualTo(1);
            assertThat(SQS.size(fifo)).isZero();
        }
    }

    @Test
    void anotherPayloadUnderACompletedKeyEndsInTheDeadLetterQueue(CapturedOutput output) {
        try (TestApplication application = start()) {
            SQS.send(queue, "{\"orderId\":\"o1\",\"amount\":10}");
            await().atMost(LONG).until(() -> application.claims("COMPLETED") == 1);

            SQS.send(queue, "{\"orderId\":\"o1\",\"amount\":4242}");

            await().atMost(LONG).until(() -> SQS.size(deadLetters) == 1);
            assertThat(application.bean(Listener.class).calls()).containsExactly(new Order("o1", 10));
            assertThat(application.outcomes("mismatch")).isEqualTo(2);
            assertThat(output).contains("is completed with other content").doesNotContain("4242");
        }
    }

    /** The fields of a body have no order. */
    @Test
    void genuineMessageWhoseBodyWasGuessedIsDeletedUnhandledAndNotReported(CapturedOutput output) {
        try (TestApplication application = start()) {
            SQS.send(queue, "{\"orderId\":\"o1\",\"amount\":4242}");
            await().atMost(LONG).until(() -> application.claims("COMPLETED") == 1);
            SQS.awaitEmpty(queue);

            SQS.send(queue, "{\"amount\": 4242, \"orderId\": \"o1\"}");

            await().atMost(LONG).until(() -> application.outcomes("already_completed") == 1);
            SQS.awaitEmpty(queue);
            assertThat(application.bean(Listener.class).calls()).containsExactly(new Order("o1", 4242));
            assertThat(SQS.size(deadLetters)).isZero();
            assertThat(application.outcomes("mismatch")).isZero();
            assertThat(output).doesNotContain("with other content");
        }
    }
}
