package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/** Which key a message has, and what becomes of one that has none or cannot be read. */
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class KeyIT {

    private static final SqsServer SQS = SqsServer.shared();

    record Order(@Nullable String orderId) {}

    static class Recorder {
        private final List<String> keys = new CopyOnWriteArrayList<>();

        List<String> keys() {
            return keys;
        }
    }

    static class Keyed extends Recorder {
        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                key = "#order.orderId",
                scope = "${test.scope}")
        void handle(Order order, Claim claim) {
            keys().add(claim.key());
        }
    }

    static class Unkeyed extends Recorder {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}")
        void handle(String body, Claim claim) {
            keys().add(claim.key());
        }
    }

    private final String queue = SQS.createQueue(2);

    private TestApplication start(Class<?> listener) {
        return TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(),
                Map.of("test.queue", queue, "test.scope", "payments"),
                listener);
    }

    @Test
    void keyAttributeIsTheKeyAndElseTheMessageId(CapturedOutput output) {
        try (TestApplication application = start(Unkeyed.class)) {
            Unkeyed listener = application.bean(Unkeyed.class);
            String id = SQS.send(queue, "without an attribute");
            await().until(() -> listener.keys().size() == 1);
            sendTwiceWithKey("k1");

            await().atMost(Duration.ofSeconds(20)).until(() -> SQS.size(queue) == 0);
            assertThat(listener.keys()).containsExactly(id, "k1");
            assertThat(output).contains("covers redelivery only");
        }
    }

    private void sendTwiceWithKey(String key) {
        var attribute = MessageAttributeValue.builder()
                .dataType("String")
                .stringValue(key)
                .build();
        for (int i = 0; i < 2; i++) {
            SQS.client()
                    .sendMessage(request -> request.queueUrl(SQS.urlOf(queue))
                            .messageBody("with an attribute")
                            .messageAttributes(Map.of(ReceivedMessage.KEY_ATTRIBUTE, attribute)));
        }
    }

    @Test
    void keyIsStoredInItsScope() {
        try (TestApplication application = start(Keyed.class)) {
            SQS.send(queue, "{\"orderId\":\"o1\"}");

            await().until(() -> application.claims("COMPLETED") == 1);
            assertThat(application
                            .database()
                            .sql("SELECT scope || '/' || key FROM exactly_once_claim")
                            .query(String.class)
                            .single())
                    .isEqualTo("payments/o1");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{}                        | '#order.orderId' is null; every message needs a key of its own",
                "{\"orderId\":\"  \"}      | '#order.orderId' is blank; every message needs a key of its own",
                "{\"orderId\":\"a\\u0000b\"} | '#order.orderId' contains a NUL character",
                "no JSON at all            | cannot be read as",
                "[1]                       | cannot be read as"
            })
    void messageWithoutAUsableKeyOrBodyIsNeitherHandledNorAcknowledged(
            String body, String reason, CapturedOutput output) {
        try (TestApplication application = start(Keyed.class)) {
            Keyed listener = application.bean(Keyed.class);
            SQS.send(queue, body);
            SQS.send(queue, "{\"orderId\":\"good\"}");

            await().until(() -> application.claims("COMPLETED") == 1);
            await().during(Duration.ofSeconds(3)).atMost(Duration.ofSeconds(10)).until(() -> SQS.size(queue) == 1);
            assertThat(listener.keys()).containsExactly("good");
            assertThat(output).contains(reason);
        }
    }

    @Test
    void unreadableBodyIsExplainedWithARemedyAndWithoutItsContent(CapturedOutput output) {
        try (TestApplication application = start(Keyed.class)) {
            SQS.send(queue, "card number 4111 1111 1111 1111");
            SQS.send(queue, "{\"orderId\":\"good\"}");

            await().until(() -> application.claims("COMPLETED") == 1);
            await().until(() -> output.getAll().contains("Send what the handler takes, or correct its parameter"));
            assertThat(output).contains("of listener 'orders' on queue '" + queue + "' cannot be read as");
            assertThat(output).doesNotContain("4111");
        }
    }
}
