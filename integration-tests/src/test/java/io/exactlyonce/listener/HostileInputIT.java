package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.listener.BatchVisibility;
import io.awspring.cloud.sqs.listener.Visibility;
import io.awspring.cloud.sqs.listener.interceptor.MessageInterceptor;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.context.annotation.Bean;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.SqsException;

/**
 * An attacker sends messages among genuine ones, to listeners of every kind. Each message is handled once, under a
 * claim of its own key in its own queue's scope, or ends in the dead-letter queue. No message affects another one.
 *
 * <p>{@code -Dhostile.seed=...} repeats a run, and {@code -Dhostile.count=...} makes it longer.
 */
@UsesSqs
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileInputIT {

    private static final long SEED = Long.getLong("hostile.seed", System.nanoTime());
    private static final int COUNT = Integer.getInteger("hostile.count", 300);
    private static final int GENUINE = 10;
    private static final Duration LONG = Duration.ofSeconds(60L + COUNT / 20);
    private static final SqsServer SQS = SqsServer.shared();
    private static final List<String> LISTENERS = List.of("orders", "texts", "methods", "notes", "batches", "signed");

    record Order(
            String orderId,
            @Nullable BigDecimal amount,
            @Nullable Object extra) {}

    /** Records the listener of each call, and the key of its claim. */
    static class Recorder {
        private final Queue<List<String>> calls = new ConcurrentLinkedQueue<>();

        void record(String listener, Claim claim) {
            claim.ensureHeld();
            calls.add(List.of(listener, claim.key()));
        }

        List<String> keysOf(String listener) {
            return calls.stream()
                    .filter(call -> call.get(0).equals(listener))
                    .map(call -> call.get(1))
                    .toList();
        }
    }

    static class Listeners {

        private final Recorder recorder;

        Listeners(Recorder recorder) {
            this.recorder = recorder;
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.orders}", key = "#order.orderId")
        Order order(Order order, Claim claim) {
            recorder.record("orders", claim);
            return order;
        }

        @ExactlyOnceListener(id = "texts", queueNames = "${test.texts}")
        String text(
                String body,
                Claim claim,
                Visibility visibility,
                @Header(name = "tenant", required = false) @Nullable Integer tenant) {
            recorder.record("texts", claim);
            return body;
        }

        @ExactlyOnceListener(
                id = "methods",
                queueNames = "${test.methods}",
                key = "T(java.util.UUID).fromString(#order.orderId)")
        void method(Order order, Claim claim) {
            recorder.record("methods", claim);
        }

        @ExactlyOnceListener(id = "notes", queueNames = "${test.notes}", key = "#order.orderId")
        void note(@SnsNotificationMessage Order order, Claim claim) {
            recorder.record("notes", claim);
        }

        @ExactlyOnceListener(
                id = "batches",
                queueNames = "${test.batches}",
                key = "#payload.orderId.substring(0, 1) + #payload.orderId")
        void batch(List<Message<Order>> orders, List<Claim> claims, BatchVisibility visibility) {
            assertThat(claims).hasSameSizeAs(orders);
            claims.forEach(claim -> recorder.record("batches", claim));
        }

        @ExactlyOnceListener(id = "signed", queueNames = "${test.signed}")
        void signed(String body, Claim claim) {
            recorder.record("signed", claim);
        }
    }

    static class Beans {
        @Bean
        MessageInterceptor<Object> signedKeys(org.springframework.core.env.Environment environment) {
            return new SignedKeys(
                    "secret".getBytes(StandardCharsets.UTF_8), Set.of(environment.getRequiredProperty("test.signed")));
        }
    }

    private final String deadLetters = SQS.createQueue(30);
    private final Map<String, String> queues = new HashMap<>();
    private final HostileMessages hostile = new HostileMessages(SEED);
    private final Random random = new Random(SEED);
    private final TestApplication application;
    private final CapturedLog log;
    private int refused;

    HostileInputIT() {
        System.out.println("hostile.seed=" + SEED + " hostile.count=" + COUNT);
        System.clearProperty(HostileMessages.HARMED);
        Map<String, String> properties = new HashMap<>(
                Map.of("exactly-once.retry.max-delay", "1s", "spring.cloud.aws.sqs.observation-enabled", "true"));
        LISTENERS.forEach(listener -> {
            String queue = SQS.createQueue(30, deadLetters, 1);
            queues.put(listener, queue);
            properties.put("test." + listener, queue);
        });
        application = TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(), properties, Recorder.class, Listeners.class, Beans.class);
        // Starts after the application, because the application configures logging anew.
        log = new CapturedLog();
    }

    @AfterAll
    void close() {
        application.close();
        log.close();
    }

    @BeforeEach
    void pretendThatAnotherWorkerHasAClaim() {
        application
                .database()
                .sql("DELETE FROM exactly_once_claim WHERE scope = 'payments'")
                .update();
        application.database().sql("""
                        INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,
                                                        lease_until, first_claimed_at, claimed_at, expires_at)
                        VALUES ('payments', 'o1', 'HELD', gen_random_uuid(), 'other', 1, 1, false, now(), now(), now(),
                                now() + interval '1 hour')
                        """).update();
    }

    @Test
    void everyHostileMessageIsHandledOnceUnderItsOwnClaimOrEndsInTheDeadLetterQueue() {
        sendOneForEachLineOfTheLog();
        List<String> genuine = new ArrayList<>();
        for (int number = 0; number < COUNT; number++) {
            if (number % Math.max(1, COUNT / GENUINE) == 0) {
                genuine.add(sendGenuine());
            }
            String queue = queues.get(LISTENERS.get(random.nextInt(LISTENERS.size())));
            if (!send(queue, hostile.body(), hostile.attributes())) {
                refused++;
            }
        }
        genuine.add(sendGenuine());

        await().atMost(LONG)
                .untilAsserted(() -> queues.values()
                        .forEach(queue -> assertThat(SQS.size(queue)).isZero()));
        // A queue may be empty before its last message is logged or recorded.
        await().atMost(LONG).untilAsserted(() -> {
            assertGenuineAreHandledOnce(genuine);
            assertEachCallHadItsClaim();
            assertThat(log.text()).contains("cannot be read as", "cannot be handed to", "failed on this message");
        });

        assertThat(System.getProperty(HostileMessages.HARMED)).isNull();
        assertThat(SQS.size(deadLetters)).isPositive();
        assertThat(HostileMessages.leaksIn(log.text())).isEmpty();
        assertThat(log.text().lines())
                .allSatisfy(line -> assertThat(line.length()).isLessThan(2_000));
        assertNothingOfItInMeters();
        assertThat(refused).as("what the server itself refuses").isLessThan(COUNT / 2);
    }

    /** Sends a message for each log line that the test expects, because an empty log proves nothing. */
    private void sendOneForEachLineOfTheLog() {
        send(queues.get("orders"), "{", Map.of());
        send(queues.get("notes"), "{}", Map.of());
        send(queues.get("texts"), "text", Map.of("tenant", text("no number")));
        send(
                queues.get("methods"),
                "{\"orderId\":\"%s\\n%s\"}".formatted(HostileMessages.SECRET, HostileMessages.FORGED),
                Map.of());
    }

    /** Sends one message with the same key to each listener, and returns the key. */
    private String sendGenuine() {
        String key = new java.util.UUID(random.nextLong(), random.nextLong()).toString();
        String order = "{\"orderId\":\"%s\",\"amount\":1}".formatted(key);
        for (String listener : LISTENERS) {
            String queue = queues.get(listener);
            String body = listener.equals("notes")
                    ? "{\"Type\":\"Notification\",\"Message\":\"{\\\"orderId\\\":\\\"%s\\\"}\"}".formatted(key)
                    : order;
            String signature = application.bean(SignedKeys.class).sign(queue, key, body);
            send(queue, body, Map.of("ExactlyOnce-Key", text(key), "ExactlyOnce-Signature", text(signature)));
        }
        return key;
    }

    private static MessageAttributeValue text(String text) {
        return MessageAttributeValue.builder()
                .dataType("String")
                .stringValue(text)
                .build();
    }

    /** Returns whether the server accepted the message. */
    private boolean send(String queue, String body, Map<String, MessageAttributeValue> attributes) {
        try {
            SQS.client()
                    .sendMessage(request ->
                            request.queueUrl(SQS.urlOf(queue)).messageBody(body).messageAttributes(attributes));
            return true;
        } catch (SqsException refusal) {
            return false;
        }
    }

    private void assertGenuineAreHandledOnce(List<String> keys) {
        Recorder recorder = application.bean(Recorder.class);
        for (String listener : LISTENERS) {
            for (String key : keys) {
                String expected = listener.equals("batches") ? key.charAt(0) + key : key;
                assertThat(recorder.keysOf(listener)).as(listener).containsOnlyOnce(expected);
            }
        }
        assertThat(recorder.keysOf("signed")).containsExactlyInAnyOrderElementsOf(keys);
    }

    private void assertEachCallHadItsClaim() {
        List<ClaimKey> calls = application.bean(Recorder.class).calls.stream()
                .map(call -> new ClaimKey(queues.get(call.get(0)), call.get(1)))
                .toList();
        List<ClaimKey> rows = application
                .database()
                .sql("SELECT scope, key FROM exactly_once_claim WHERE status = 'COMPLETED'")
                .query((row, number) -> new ClaimKey(row.getString(1), row.getString(2)))
                .list();
        assertThat(calls).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(rows);
        assertThat(application
                        .database()
                        .sql("SELECT scope || '/' || key || owner FROM exactly_once_claim"
                                + " WHERE status NOT IN ('COMPLETED', 'RELEASED') OR in_doubt")
                        .query(String.class)
                        .list())
                .as("but for what was held from the start; what could not be handed to its method was given back")
                .containsExactly("payments/o1other");
    }

    private void assertNothingOfItInMeters() {
        List<String> values = application.bean(MeterRegistry.class).getMeters().stream()
                .map(Meter::getId)
                .filter(id -> id.getName().startsWith("exactly.once"))
                .flatMap(id -> id.getTags().stream())
                .map(Tag::getValue)
                .distinct()
                .toList();
        assertThat(values).allSatisfy(value -> assertThat(value).matches("[\\w.+-]{1,80}"));
    }

    /** Sends one attribute of each kind alone, so that a failure names it. */
    @Test
    void attributesThatPassForHeadersOfTheContainerDoNotReachTheHandler() {
        List<String> names = List.of(
                "Sqs_VisibilityTimeout",
                "Sqs_ReceiptHandle",
                "Sqs_SourceData",
                "Sqs_QueueName",
                "micrometer.observation");
        for (String name : names) {
            send(queues.get("texts"), "forged " + name, Map.of(name, text("forged"), "ExactlyOnce-Key", text(name)));
        }

        Recorder recorder = application.bean(Recorder.class);
        await().atMost(LONG)
                .untilAsserted(() -> assertThat(recorder.keysOf("texts")).containsAll(names));
    }

    /** The example is the text of the documentation, word for word. */
    @Test
    void exampleOfSignedKeysIsTheDocumentedOne() throws IOException {
        String source = Files.readString(Path.of("src/test/java/io/exactlyonce/listener/SignedKeys.java"));
        String example = source.split("// tag::example\n", 2)[1].split("// end::example", 2)[0];

        assertThat(Files.readString(Path.of("../SECURITY.md"))).contains(example.strip());
    }
}
