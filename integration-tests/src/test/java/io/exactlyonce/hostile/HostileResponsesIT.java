package io.exactlyonce.hostile;

import static io.exactlyonce.testing.wire.HostileAnswers.attribute;
import static io.exactlyonce.testing.wire.HostileAnswers.body;
import static io.exactlyonce.testing.wire.HostileAnswers.cutOff;
import static io.exactlyonce.testing.wire.HostileAnswers.instead;
import static io.exactlyonce.testing.wire.HostileAnswers.message;
import static io.exactlyonce.testing.wire.HostileAnswers.messages;
import static io.exactlyonce.testing.wire.HostileAnswers.more;
import static io.exactlyonce.testing.wire.HostileAnswers.page;
import static io.exactlyonce.testing.wire.HostileAnswers.refused;
import static io.exactlyonce.testing.wire.HostileAnswers.withoutEnd;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.autoconfigure.sqs.SqsAsyncClientCustomizer;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.wire.Trouble;
import io.exactlyonce.testing.wire.Troubles;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClientBuilder;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers of SQS that AWS does not give, but a broken or hostile server in its place may. Each answers one queue's requests until it was
 * met. No effect is lost or repeated, no listener ends, and no line of the log is forged.
 */
@ExtendWith(OutputCaptureExtension.class)
class HostileResponsesIT {

    private static final int WINDOW_SECONDS = 2;
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(3);
    private static final int LONGEST_LINE = 20_000;

    private static final String RECEIVE = "ReceiveMessage";
    private static final String DELETE = "DeleteMessageBatch";
    private static final String CHANGE = "ChangeMessageVisibilityBatch";
    private static final String RENEWING = "Renewing the visibility timeout of";

    /** Begins a line, moves the cursor, and turns text around. */
    private static final String FORGED = "told\nFORGED 1\r\nFORGED 2\u0085FORGED 3\u2028FORGED 4 \u001b[2J\u202e";

    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}\u202e&&[^\\r\\n\\t]]");

    private static final Troubles TROUBLES = new Troubles(SqsServer.elasticMq());
    private static final SqsServer SQS = SqsServer.through(TROUBLES);
    private static final String QUEUE = SQS.createQueue(WINDOW_SECONDS);
    private static final String OTHER = SQS.createQueue(WINDOW_SECONDS);

    private static final Map<String, AtomicInteger> CALLS = new ConcurrentHashMap<>();
    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static volatile CountDownLatch gate = new CountDownLatch(0);

    /** An answer of one action, and what the log says of it; empty if the answer is taken as it is. */
    record Case(String name, String action, Trouble trouble, String said) {

        @Override
        public String toString() {
            return name;
        }
    }

    static class Listeners {

        @ExactlyOnceListener(id = "attacked", queueNames = "${test.attacked}", key = "#order")
        void attacked(String order) throws InterruptedException {
            CALLS.computeIfAbsent(order, first -> new AtomicInteger()).incrementAndGet();
            gate.await();
        }

        @ExactlyOnceListener(id = "other", queueNames = "${test.other}", key = "#order")
        void other(String order) {
            CALLS.computeIfAbsent(order, first -> new AtomicInteger()).incrementAndGet();
        }
    }

    /** Waits for no answer longer than a test can. */
    static class Impatient implements SqsAsyncClientCustomizer {

        @Override
        public void customize(SqsAsyncClientBuilder client) {
            client.httpClientBuilder(NettyNioAsyncHttpClient.builder().readTimeout(READ_TIMEOUT));
        }
    }

    private static TestApplication application;

    @BeforeAll
    static void start() {
        Map<String, String> properties = new HashMap<>(SQS.properties());
        properties.put("test.attacked", QUEUE);
        properties.put("test.other", OTHER);
        properties.put("exactly-once.retry.initial-delay", "1s");
        properties.put("exactly-once.retry.max-delay", "2s");
        application = TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(), properties, Listeners.class, Impatient.class);
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @AfterEach
    void calm() {
        gate.countDown();
        TROUBLES.none();
    }

    private static int calls(String order) {
        AtomicInteger calls = CALLS.get(order);
        return calls == null ? 0 : calls.get();
    }

    private static Trouble without(String field) {
        return message(message -> message.remove(field));
    }

    private static Trouble with(String field, String value) {
        return message(message -> message.put(field, value));
    }

    static Stream<Case> receives() {
        return Stream.of(
                new Case("checksum with lines", RECEIVE, with("MD5OfBody", FORGED), "Polling"),
                new Case("message ID with lines", RECEIVE, with("MessageId", FORGED), "message ID with other"),
                new Case("no receipt handle", RECEIVE, without("ReceiptHandle"), "has no receipt handle"),
                new Case(
                        "long receipt handle",
                        RECEIVE,
                        with("ReceiptHandle", "h".repeat(100_000)),
                        "receipt handle of"),
                new Case("no attributes", RECEIVE, without("Attributes"), ""),
                new Case(
                        "one message thirty times",
                        RECEIVE,
                        messages(all -> Stream.generate(() -> all.get(0).deepCopy())
                                .limit(30)
                                .toList()),
                        "with the same receipt handle"),
                new Case(
                        "null as a message",
                        RECEIVE,
                        body(body -> body.putArray("Messages").addNull()),
                        "Polling"),
                new Case("text as messages", RECEIVE, body(body -> body.put("Messages", "x")), ""));
    }

    static Stream<Case> attributes() {
        return Stream.of("ApproximateReceiveCount", "SentTimestamp", "ApproximateFirstReceiveTimestamp")
                .flatMap(name -> Stream.of("-3000000000", "9".repeat(40), FORGED)
                        .map(value -> new Case(
                                name + " " + value.replaceAll("\\P{Alnum}", "_"),
                                RECEIVE,
                                attribute(name, value),
                                "")));
    }

    /** The SDK asks again after an answer that is cut off, and takes a page for an answer without fields. */
    static Stream<Case> transport() {
        return Stream.of(RECEIVE, DELETE)
                .flatMap(action -> Stream.of(
                        new Case(action + " cut off", action, cutOff(), ""),
                        new Case(action + " as a page", action, page("<html>" + FORGED), ""),
                        new Case(
                                action + " refused with lines and at length",
                                action,
                                refused("Odd", FORGED + "long ".repeat(200_000)),
                                action.equals(RECEIVE) ? "Polling" : "Deleting")));
    }

    private static void failed(ObjectNode body, String id, String code, String message) {
        body.withArray("Failed")
                .addObject()
                .put("Id", id)
                .put("Code", code)
                .put("Message", message)
                .put("SenderFault", false);
    }

    static Stream<Case> batches() {
        return Stream.of(
                new Case("delete of an unknown ID", DELETE, body(body -> failed(body, "unknown", "Odd", FORGED)), ""),
                new Case("delete that is done and failed", DELETE, body(body -> failed(body, "0", "Odd", FORGED)), ""),
                new Case("delete that answers nothing", DELETE, instead(body -> {}), ""));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource({"receives", "attributes", "transport", "batches"})
    void answerCostsNoEffectAndNoListener(Case each, CapturedOutput output) {
        int begun = output.getAll().length();
        int crashes = Boundary.crashes();
        int number = NUMBER.incrementAndGet();
        CountDownLatch met = new CountDownLatch(1);
        TROUBLES.always(QUEUE, each.action(), (call, server) -> {
            met.countDown();
            return each.trouble().meet(call, server);
        });

        SQS.send(QUEUE, "first " + number);
        await(each.name()).atMost(SOON).until(() -> met.getCount() == 0);
        SQS.send(OTHER, "other " + number);
        await(each.name()).atMost(SOON).until(() -> calls("other " + number) == 1);
        await(each.name())
                .atMost(SOON)
                .until(() -> output.getAll().substring(begun).contains(each.said()));
        TROUBLES.none();

        assertHandledOnce(each, "first " + number, "second " + number);
        assertThat(Boundary.crashes()).isEqualTo(crashes);
        assertNotForged(output.getAll().substring(begun));
    }

    private static void assertHandledOnce(Case each, String first, String second) {
        SQS.send(QUEUE, second);
        await(each.name()).atMost(SOON).until(() -> calls(first) > 0 && calls(second) > 0);
        await(each.name()).atMost(SOON).until(() -> SQS.size(QUEUE) == 0);
        await(each.name())
                .atMost(SOON)
                .until(() -> application.bean(Renewer.class).renewedCount() == 0);
        assertThat(calls(first)).isEqualTo(1);
        assertThat(calls(second)).isEqualTo(1);
        assertThat(application.container("attacked").isRunning()).isTrue();
    }

    private static void assertNotForged(String log) {
        assertThat(log.lines())
                .noneMatch(line -> line.startsWith("FORGED"))
                .noneMatch(line -> UNPRINTABLE.matcher(line).find())
                .allMatch(line -> line.length() < LONGEST_LINE);
    }

    static Stream<Case> renewals() {
        return Stream.of(
                new Case("renewal of an unknown ID", CHANGE, body(body -> failed(body, "unknown", "Odd", FORGED)), ""),
                new Case("renewal refused with lines", CHANGE, refused("Odd", FORGED), RENEWING),
                new Case("renewal without end", CHANGE, withoutEnd(READ_TIMEOUT), RENEWING));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("renewals")
    void answerToARenewalRepeatsNoEffect(Case each, CapturedOutput output) {
        int begun = output.getAll().length();
        int number = NUMBER.incrementAndGet();
        gate = new CountDownLatch(1);
        TROUBLES.always(QUEUE, each.action(), each.trouble());

        SQS.send(QUEUE, "first " + number);
        await(each.name()).atMost(SOON).until(() -> calls("first " + number) == 1);
        await(each.name())
                .atMost(SOON)
                .until(() -> TROUBLES.calls(QUEUE, CHANGE).stream()
                                        .mapToInt(call -> call.receiptHandles().size())
                                        .sum()
                                >= 1
                        && output.getAll().substring(begun).contains(each.said()));
        SQS.send(OTHER, "other " + number);
        await(each.name()).atMost(SOON).until(() -> calls("other " + number) == 1);
        gate.countDown();
        TROUBLES.none();

        assertHandledOnce(each, "first " + number, "second " + number);
        assertNotForged(output.getAll().substring(begun));
    }

    @Test
    void surplusOfMessagesTakesNoMorePermits() {
        int number = NUMBER.incrementAndGet();
        int all = 60;
        gate = new CountDownLatch(1);
        for (int answer = 0; answer < 3; answer++) {
            TROUBLES.next(QUEUE, RECEIVE, more(SqsServer.elasticMq()));
        }
        for (int sent = 0; sent < all; sent++) {
            SQS.send(QUEUE, "surplus " + number + " " + sent);
        }
        await().atMost(SOON)
                .until(() -> CALLS.keySet().stream()
                                .filter(order -> order.startsWith("surplus " + number + " "))
                                .count()
                        >= 10);
        await().during(Duration.ofSeconds(3))
                .atMost(SOON)
                .until(() -> application.bean(Renewer.class).renewedCount() <= 20);
        gate.countDown();
        await().atMost(SOON).until(() -> SQS.size(QUEUE) == 0);
        TROUBLES.none();
        for (int sent = 0; sent < all; sent++) {
            assertThat(calls("surplus " + number + " " + sent)).isEqualTo(1);
        }
    }
}
