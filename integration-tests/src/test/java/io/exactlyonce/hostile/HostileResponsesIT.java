package io.exactlyonce.hostile;

import static io.exactlyonce.testing.wire.HostileAnswers.body;
import static io.exactlyonce.testing.wire.HostileAnswers.cutOff;
import static io.exactlyonce.testing.wire.HostileAnswers.dripping;
import static io.exactlyonce.testing.wire.HostileAnswers.instead;
import static io.exactlyonce.testing.wire.HostileAnswers.message;
import static io.exactlyonce.testing.wire.HostileAnswers.messages;
import static io.exactlyonce.testing.wire.HostileAnswers.more;
import static io.exactlyonce.testing.wire.HostileAnswers.page;
import static io.exactlyonce.testing.wire.HostileAnswers.redirect;
import static io.exactlyonce.testing.wire.HostileAnswers.refused;
import static io.exactlyonce.testing.wire.HostileAnswers.refusedWithCode;
import static io.exactlyonce.testing.wire.HostileAnswers.withoutEnd;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.autoconfigure.sqs.SqsAsyncClientCustomizer;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.wire.Trouble;
import io.exactlyonce.testing.wire.Troubles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.services.sqs.SqsAsyncClientBuilder;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers of SQS that AWS does not give, but a broken or hostile server in its place may. Each answers one queue's
 * requests until it was met. No effect is lost or repeated, no listener ends, and no line of the log is forged.
 *
 * <p>Most cases wait for timeouts, so that some run at a time, each on a queue of its own; a test takes what its case
 * has found.
 */
class HostileResponsesIT {

    private static final int WINDOW_SECONDS = 2;
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(4);
    private static final Duration DRIP = Duration.ofMillis(100);
    private static final int LONGEST_LINE = 20_000;
    private static final Duration ALL = Duration.ofSeconds(240);

    /** More cases at a time keep the processors too busy for timeouts of 2 s. */
    private static final int AT_A_TIME = Integer.getInteger("hostile.cases", 8);

    private static final String RECEIVE = "ReceiveMessage";
    private static final String DELETE = "DeleteMessageBatch";
    private static final String CHANGE = "ChangeMessageVisibilityBatch";
    private static final String POLLING = "Polling listener";
    private static final String REPEATED = "and the SDK repeated it";
    private static final String RENEWING = "Renewing the visibility timeout of";

    /** Begins a line, moves the cursor, and turns text around. */
    private static final String FORGED = "told\nFORGED 1\r\nFORGED 2\u0085FORGED 3\u2028FORGED 4 \u001b[2J\u202e";

    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}\u202e&&[^\\r\\n\\t]]");

    private static final Troubles TROUBLES = new Troubles(SqsServer.elasticMq());
    private static final SqsServer SQS = SqsServer.through(TROUBLES);
    private static final String SURPLUS = SQS.createQueue(WINDOW_SECONDS);
    private static final String OTHER = SQS.createQueue(WINDOW_SECONDS);
    private static final String RESTARTED = SQS.createQueue(WINDOW_SECONDS);

    private static final Map<String, AtomicInteger> CALLS = new ConcurrentHashMap<>();
    private static final AtomicInteger NUMBER = new AtomicInteger();

    /** A handler of an order with a gate waits until it is open. */
    private static final Map<String, CountDownLatch> GATES = new ConcurrentHashMap<>();

    private static final Map<String, CompletableFuture<Void>> RESULTS = new LinkedHashMap<>();
    private static ExecutorService cases;
    private static int crashesBefore;

    /** An answer of one action, and what the log says of it; empty if the answer is taken as it is. */
    record Case(String name, String action, Trouble trouble, String said) {

        @Override
        public String toString() {
            return name;
        }
    }

    static class Listeners {

        @ExactlyOnceListener(id = "attacked", queueNames = "#{'${test.attacked}'.split(',')}", key = "#order")
        void attacked(String order) throws InterruptedException {
            CALLS.computeIfAbsent(order, first -> new AtomicInteger()).incrementAndGet();
            CountDownLatch gate = GATES.get(order);
            if (gate != null) {
                gate.await();
            }
        }

        @ExactlyOnceListener(id = "restarted", queueNames = "${test.restarted}", key = "#order")
        void restarted(String order) {
            CALLS.computeIfAbsent(order, first -> new AtomicInteger()).incrementAndGet();
        }

        @ExactlyOnceListener(id = "other", queueNames = "${test.other}", key = "#order")
        void other(String order) {
            CALLS.computeIfAbsent(order, first -> new AtomicInteger()).incrementAndGet();
        }
    }

    /** Sets short timeouts of the client, and enough connections, because each queue is polled on its own one. */
    static class Impatient implements SqsAsyncClientCustomizer {

        @Override
        public void customize(SqsAsyncClientBuilder client) {
            client.httpClientBuilder(NettyNioAsyncHttpClient.builder()
                            .maxConcurrency(200)
                            .readTimeout(READ_TIMEOUT))
                    .overrideConfiguration(limits -> limits.apiCallTimeout(CALL_TIMEOUT));
        }
    }

    private static TestApplication application;
    private static CapturedLog log;

    /** Accepts connections, and answers nothing. */
    private static ServerSocket silent;

    private static CompletableFuture<Throwable> startAtSilence;

    /** Waits for a server that never answers while the other tests run. */
    private static Throwable startAtSilence(String database) {
        Map<String, String> properties = new HashMap<>(SQS.properties());
        properties.put("spring.cloud.aws.sqs.endpoint", "http://localhost:" + silent.getLocalPort());
        properties.put("test.queue", "orders");
        return catchThrowable(
                () -> TestApplication.start(database, properties, Silent.class).close());
    }

    static class Silent {

        @ExactlyOnceListener(id = "silent", queueNames = "${test.queue}", key = "#order")
        void silent(String order) {}
    }

    @BeforeAll
    static void start() throws IOException {
        silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        String database = EmbeddedDatabase.shared().createDatabase();
        startAtSilence = CompletableFuture.supplyAsync(() -> startAtSilence(database));
        Map<Case, String> queues = new LinkedHashMap<>();
        Stream.of(receives(), attributes(), transport(), batches(), renewals())
                .flatMap(all -> all)
                .forEach(each -> queues.put(each, SQS.createQueue(WINDOW_SECONDS)));
        Map<String, String> properties = new HashMap<>(SQS.properties());
        properties.put("test.attacked", String.join(",", queues.values()) + "," + SURPLUS);
        properties.put("test.other", OTHER);
        properties.put("test.restarted", RESTARTED);
        properties.put("exactly-once.retry.initial-delay", "1s");
        properties.put("exactly-once.retry.max-delay", "2s");
        application = TestApplication.start(
                EmbeddedDatabase.shared().createDatabase(), properties, Listeners.class, Impatient.class);
        log = new CapturedLog();
        crashesBefore = Boundary.crashes();
        cases = Executors.newFixedThreadPool(AT_A_TIME);
        queues.forEach((each, queue) -> RESULTS.put(
                each.name(),
                CompletableFuture.runAsync(
                        () -> {
                            if (each.action().equals(CHANGE)) {
                                meetRenewal(each, queue);
                            } else {
                                meetAnswer(each, queue);
                            }
                        },
                        cases)));
    }

    @AfterAll
    static void stop() throws IOException {
        cases.shutdownNow();
        log.close();
        application.close();
        silent.close();
    }

    @AfterEach
    void calm() {
        TROUBLES.none(RESTARTED);
        TROUBLES.none("");
    }

    /** Fails as the case has failed. */
    private static void assertMet(Case each) {
        assertThat(RESULTS.get(each.name())).as(each.name()).succeedsWithin(ALL);
    }

    private static void awaitAllCases() {
        assertThat(CompletableFuture.allOf(RESULTS.values().toArray(CompletableFuture[]::new))
                        .handle((all, failed) -> all))
                .succeedsWithin(ALL);
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
                new Case("checksum with lines", RECEIVE, with("MD5OfBody", FORGED), POLLING),
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
                        POLLING),
                new Case("text as messages", RECEIVE, body(body -> body.put("Messages", "x")), ""));
    }

    static Stream<Case> attributes() {
        return Stream.of("-3000000000", "9".repeat(40), FORGED)
                .map(value -> new Case(
                        "counts and times of " + value.replaceAll("\\P{Alnum}", "_"),
                        RECEIVE,
                        message(message -> Stream.of(
                                        "ApproximateReceiveCount", "SentTimestamp", "ApproximateFirstReceiveTimestamp")
                                .forEach(name ->
                                        message.withObjectProperty("Attributes").put(name, value))),
                        ""));
    }

    /**
     * The SDK repeats a receive whose answer is cut off or a page. The repetition succeeds without the message, which
     * is invisible, and that is logged once an hour.
     */
    static Stream<Case> transport() {
        return Stream.of(RECEIVE, DELETE)
                .flatMap(action -> Stream.of(
                        new Case(action + " cut off", action, cutOff(), action.equals(RECEIVE) ? REPEATED : ""),
                        new Case(
                                action + " as a page",
                                action,
                                page("<html>" + FORGED),
                                action.equals(RECEIVE) ? REPEATED : said(action)),
                        new Case(action + " redirected", action, redirect("http://127.0.0.1:1/"), said(action)),
                        new Case(action + " dripping", action, dripping(DRIP, SOON), said(action)),
                        new Case(
                                action + " refused with a code of lines",
                                action,
                                refusedWithCode(FORGED),
                                said(action)),
                        new Case(
                                action + " refused with lines and at length",
                                action,
                                refused("Odd", FORGED + "long ".repeat(200_000)),
                                said(action))));
    }

    private static String said(String action) {
        return action.equals(RECEIVE) ? POLLING : "A request to delete";
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
    void answerCostsNoEffectAndNoListener(Case each) {
        assertMet(each);
    }

    private static void meetAnswer(Case each, String queue) {
        int number = NUMBER.incrementAndGet();
        CountDownLatch met = new CountDownLatch(1);
        TROUBLES.always(queue, each.action(), (call, server) -> {
            met.countDown();
            return each.trouble().meet(call, server);
        });

        SQS.send(queue, "first " + number);
        await(each.name()).atMost(SOON).until(() -> met.getCount() == 0);
        SQS.send(OTHER, "other " + number);
        await(each.name()).atMost(SOON).until(() -> calls("other " + number) == 1);
        await(each.name()).atMost(SOON).until(() -> isSaid(each, queue));
        TROUBLES.none(queue);

        assertHandledOnce(each, queue, "first " + number, "second " + number);
    }

    /** The lines of a case name its queue. */
    private static boolean isSaid(Case each, String queue) {
        return each.said().isEmpty()
                || log.text().lines().anyMatch(line -> line.contains(queue) && line.contains(each.said()));
    }

    private static void assertHandledOnce(Case each, String queue, String first, String second) {
        SQS.send(queue, second);
        await(each.name()).atMost(SOON).until(() -> calls(first) > 0 && calls(second) > 0);
        await(each.name()).atMost(SOON).until(() -> SQS.size(queue) == 0);
        assertThat(calls(first)).as(each.name()).isEqualTo(1);
        assertThat(calls(second)).as(each.name()).isEqualTo(1);
        assertThat(application.container("attacked").isRunning()).isTrue();
        assertThat(Boundary.crashes()).isEqualTo(crashesBefore);
    }

    /** The state that all cases leave behind. */
    @Test
    void noCaseLeavesARenewalALineOrACrash() {
        awaitAllCases();

        await().atMost(SOON).until(() -> application.bean(Renewer.class).renewedCount() == 0);
        assertThat(Boundary.crashes()).isEqualTo(crashesBefore);
        assertNotForged(log.text());
    }

    private static void assertNotForged(String logged) {
        assertThat(logged.lines())
                .noneMatch(line -> line.startsWith("FORGED"))
                .noneMatch(line -> UNPRINTABLE.matcher(line).find())
                .allMatch(line -> line.length() < LONGEST_LINE);
    }

    static Stream<Case> renewals() {
        return Stream.of(
                new Case("renewal of an unknown ID", CHANGE, body(body -> failed(body, "unknown", "Odd", FORGED)), ""),
                new Case("renewal as a page", CHANGE, page("<html>" + FORGED), RENEWING),
                new Case("renewal redirected", CHANGE, redirect("http://127.0.0.1:1/"), RENEWING),
                new Case("renewal dripping", CHANGE, dripping(DRIP, SOON), RENEWING),
                new Case("renewal refused with lines", CHANGE, refused("Odd", FORGED), RENEWING),
                new Case("renewal without end", CHANGE, withoutEnd(READ_TIMEOUT), RENEWING));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("renewals")
    void answerToARenewalRepeatsNoEffect(Case each) {
        assertMet(each);
    }

    private static void meetRenewal(Case each, String queue) {
        int number = NUMBER.incrementAndGet();
        CountDownLatch gate = new CountDownLatch(1);
        GATES.put("first " + number, gate);
        try {
            TROUBLES.always(queue, each.action(), each.trouble());

            SQS.send(queue, "first " + number);
            await(each.name()).atMost(SOON).until(() -> calls("first " + number) == 1);
            await(each.name())
                    .atMost(SOON)
                    .until(() -> TROUBLES.calls(queue, CHANGE).stream()
                                            .mapToInt(call ->
                                                    call.receiptHandles().size())
                                            .sum()
                                    >= 1
                            && isSaid(each, queue));
            SQS.send(OTHER, "other " + number);
            await(each.name()).atMost(SOON).until(() -> calls("other " + number) == 1);
        } finally {
            gate.countDown();
        }
        TROUBLES.none(queue);

        assertHandledOnce(each, queue, "first " + number, "second " + number);
    }

    @Test
    void surplusOfMessagesTakesNoMorePermits() {
        awaitAllCases();
        int number = NUMBER.incrementAndGet();
        int all = 60;
        CountDownLatch gate = new CountDownLatch(1);
        for (int answer = 0; answer < 3; answer++) {
            TROUBLES.next(SURPLUS, RECEIVE, more(SqsServer.elasticMq()));
        }
        for (int sent = 0; sent < all; sent++) {
            GATES.put("surplus " + number + " " + sent, gate);
            SQS.send(SURPLUS, "surplus " + number + " " + sent);
        }
        await().atMost(SOON)
                .until(() -> CALLS.keySet().stream()
                                .filter(order -> order.startsWith("surplus " + number + " "))
                                .count()
                        >= 10);
        await().during(Duration.ofSeconds(1))
                .atMost(SOON)
                .until(() -> application.bean(Renewer.class).renewedCount() <= 20);
        gate.countDown();
        await().atMost(SOON).until(() -> SQS.size(SURPLUS) == 0);
        TROUBLES.none(SURPLUS);
        for (int sent = 0; sent < all; sent++) {
            assertThat(calls("surplus " + number + " " + sent)).isEqualTo(1);
        }
    }

    /** The SDK alone would wait for two minutes by default, and without an end for an answer that drips. */
    @Test
    void startAtAServerThatNeverAnswersFailsAfterHalfAMinute() {
        assertThat(startAtSilence)
                .succeedsWithin(SOON)
                .satisfies(failure -> assertThat(failure)
                        .hasStackTraceContaining("Queue 'orders' of listener 'silent' is not available")
                        .hasStackTraceContaining("http://localhost:" + silent.getLocalPort())
                        .hasStackTraceContaining("No answer has come within 30 s")
                        .hasStackTraceContaining("Start the SQS server at"));
    }

    static Stream<Case> refusedStarts() {
        return Stream.of(
                started(
                        "GetQueueAttributes",
                        "timeout of text",
                        body(body -> setTimeout(body, FORGED)),
                        "'told FORGED 1"),
                started("GetQueueAttributes", "timeout too long", body(body -> setTimeout(body, "99999")), "(99999 s)"),
                started("GetQueueAttributes", "timeout of 0", body(body -> setTimeout(body, "0")), "(0 s)"),
                started("GetQueueAttributes", "timeout below 0", body(body -> setTimeout(body, "-1")), "'-1'"),
                started(
                        "GetQueueAttributes",
                        "timeout beyond numbers",
                        body(body -> setTimeout(body, "9".repeat(99))),
                        "'999"),
                started("GetQueueAttributes", "no attributes", body(body -> body.remove("Attributes")), "''"),
                started("GetQueueAttributes", "page", page("<html>" + FORGED), "restarted"),
                started("GetQueueAttributes", "redirect", redirect("http://127.0.0.1:1/"), "is not available"),
                started("GetQueueAttributes", "lines", refused("Odd", FORGED), "told FORGED 1"),
                started("GetQueueUrl", "no URL", body(body -> body.remove("QueueUrl")), "is not available"),
                started("GetQueueUrl", "URL of lines", body(body -> body.put("QueueUrl", FORGED)), "is not available"),
                started(
                        "GetQueueUrl",
                        "endless URL",
                        body(body -> body.put("QueueUrl", "http://" + "x".repeat(9_999))),
                        "is not available"),
                started("GetQueueUrl", "page", page("<html>" + FORGED), "is not available"));
    }

    private static Case started(String action, String name, Trouble trouble, String said) {
        return new Case(action + ": " + name, action, trouble, said);
    }

    private static void setTimeout(ObjectNode body, String seconds) {
        body.withObjectProperty("Attributes").put("VisibilityTimeout", seconds);
    }

    /** The request for a queue's URL names no queue by URL. */
    private static void meet(Case each) {
        TROUBLES.always(each.action().equals("GetQueueUrl") ? "" : RESTARTED, each.action(), each.trouble());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusedStarts")
    void startWithAnAnswerThatCannotBeRightFailsWithTheReason(Case each) {
        int start = log.text().length();
        SqsMessageListenerContainer<?> container = application.container("restarted");
        container.stop();
        meet(each);

        assertThatThrownBy(container::start)
                .satisfies(failure -> assertThat(
                                Causes.of(failure).map(Throwable::getMessage).filter(Objects::nonNull))
                        .anyMatch(message -> message.contains("'restarted'") && message.contains(each.said()))
                        .noneMatch(message -> message.contains("Listener '") && message.contains("\n")));
        assertNotForged(log.text().substring(start));
    }

    static Stream<Arguments> policies() {
        return Stream.of(
                        "{\"deadLetterTargetArn\":\""
                                + FORGED.replace("\n", "\\n").replace("\r", "\\r") + "\",\"maxReceiveCount\":5}",
                        "{" + FORGED,
                        "[".repeat(100_000),
                        "{\"deadLetterTargetArn\":\"no ARN\",\"maxReceiveCount\":5}",
                        "{\"deadLetterTargetArn\":\"a:b\",\"maxReceiveCount\":5}",
                        "{\"deadLetterTargetArn\":\"arn:aws:sqs:x:1:dead\",\"maxReceiveCount\":1e999}")
                .map(policy -> Arguments.of(policy.replaceAll("\\P{Alnum}", "_").substring(0, 20), policy));
    }

    /** A policy that cannot be read counts as none, which the audit reports. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("policies")
    void startWithARedrivePolicyThatCannotBeReadIsAudited(String name, String policy) {
        int start = log.text().length();
        int number = NUMBER.incrementAndGet();
        SqsMessageListenerContainer<?> container = application.container("restarted");
        container.stop();
        TROUBLES.always(
                RESTARTED,
                "GetQueueAttributes",
                body(body -> body.withObjectProperty("Attributes").put("RedrivePolicy", policy)));
        container.start();
        await().atMost(SOON)
                .until(() -> log.text()
                        .substring(start)
                        .matches("(?s).*(a redrive policy that cannot be read|Malformed ARN).*"));

        SQS.send(RESTARTED, "order " + number);
        await().atMost(SOON).until(() -> calls("order " + number) == 1);
        assertNotForged(log.text().substring(start));
    }
}
