package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsRequests;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.wire.AwsAnswers;
import io.exactlyonce.testing.wire.SqsError;
import io.exactlyonce.testing.wire.Trouble;
import io.exactlyonce.testing.wire.Troubles;
import io.exactlyonce.testing.wire.Twins;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/**
 * At-least-once delivery as AWS does it, and ElasticMQ does not. Two applications share the queues and the database,
 * and each has a listener of each kind. A proxy answers as AWS would, with the faults that a test chooses.
 */
@ExtendWith(OutputCaptureExtension.class)
class AtLeastOnceIT {

    private static final int WINDOW_SECONDS = 2;
    private static final int RECEIVES = 3;
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String RECEIVE = "ReceiveMessage";
    private static final String DELETE = "DeleteMessageBatch";
    private static final String CHANGE = "ChangeMessageVisibilityBatch";

    private static final Twins TWINS = new Twins(SqsServer.elasticMq());
    private static final Troubles TROUBLES = new Troubles(new AwsAnswers(TWINS, System::nanoTime));
    private static final SqsServer SQS = SqsServer.through(TROUBLES);

    private static final String DEAD_LETTERS = SQS.createQueue(30);
    private static final String SINGLE = SQS.createQueue(WINDOW_SECONDS, DEAD_LETTERS, RECEIVES);
    private static final String BATCH = SQS.createQueue(WINDOW_SECONDS, DEAD_LETTERS, RECEIVES);
    private static final String DATABASE = SQS.createQueue(WINDOW_SECONDS, DEAD_LETTERS, RECEIVES);
    private static final List<String> QUEUES = List.of(SINGLE, BATCH, DATABASE);

    /** A call of a handler, in either application. */
    record Call(String order, int attempt, boolean inDoubt) {}

    private static final List<Call> CALLS = new CopyOnWriteArrayList<>();
    private static final Map<String, CountDownLatch> GATES = new ConcurrentHashMap<>();
    private static final Map<String, Integer> FAILURES = new ConcurrentHashMap<>();

    /** The action of all handlers. */
    private static void handle(String order, Claim claim) throws InterruptedException {
        CALLS.add(new Call(order, claim.attempt(), claim.isInDoubt()));
        // The claim's attempt number does not count this call, because a rolled-back transaction leaves no record.
        int call = callsOf(order).size();
        CountDownLatch gate = GATES.get(order + " " + call);
        if (gate != null) {
            gate.await();
        }
        if (call <= FAILURES.getOrDefault(order, 0)) {
            throw new IllegalStateException("call " + call);
        }
    }

    static class Shop {
        private final JdbcTemplate jdbc;

        Shop(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @ExactlyOnceListener(id = "single", queueNames = "${test.single}", key = "#order")
        void single(String order, Claim claim) throws InterruptedException {
            handle(order, claim);
        }

        @ExactlyOnceListener(id = "batch", queueNames = "${test.batch}", key = "#payload")
        BatchResult batch(List<String> orders, List<Claim> claims) throws InterruptedException {
            BatchResult result = BatchResult.allSucceeded();
            for (int index = 0; index < orders.size(); index++) {
                try {
                    handle(orders.get(index), claims.get(index));
                } catch (IllegalStateException failure) {
                    result = result.andFailed(index, failure);
                }
            }
            return result;
        }

        @ExactlyOnceListener(
                id = "database",
                queueNames = "${test.database}",
                key = "#order",
                effects = Effects.DATABASE)
        void database(String order, Claim claim) throws InterruptedException {
            jdbc.update("INSERT INTO sale (order_id) VALUES (?)", order);
            handle(order, claim);
        }
    }

    private static String database = "";
    private static List<TestApplication> applications = List.of();

    @BeforeAll
    static void start() {
        // A repeated run of the class still has its queues, which exist until the server stops.
        CALLS.clear();
        FAILURES.clear();
        database = EmbeddedDatabase.shared().createDatabase();
        new JdbcTemplate(EmbeddedDatabase.shared().dataSource(database)).execute("CREATE TABLE sale (order_id text)");
        applications = List.of(startAs("first"), startAs("second"));
    }

    private static TestApplication startAs(String name) {
        Map<String, String> properties = new HashMap<>(SQS.properties());
        properties.put("spring.cloud.aws.credentials.access-key", name);
        properties.put("test.single", SINGLE);
        properties.put("test.batch", BATCH);
        properties.put("test.database", DATABASE);
        properties.put("exactly-once.retry.max-delay", "1s");
        return TestApplication.start(database, properties, Shop.class, SqsRequests.class);
    }

    @AfterAll
    static void stop() {
        applications.forEach(TestApplication::close);
    }

    @AfterEach
    void calm() {
        TWINS.none();
        GATES.values().forEach(CountDownLatch::countDown);
        GATES.clear();
        // A duplicate may still be undeleted when its queue looks empty. The next test's faults would then affect it.
        await().atMost(SOON)
                .until(() -> applications.stream()
                        .allMatch(application -> application.bean(Renewer.class).renewedCount() == 0));
        assertThat(TROUBLES.none()).as("what no request has met").isZero();
    }

    /** Returns the gate that the handler's call for an order waits for. */
    private static CountDownLatch gate(String order, int call) {
        return GATES.computeIfAbsent(order + " " + call, unknown -> new CountDownLatch(1));
    }

    private static void awaitCall(String order, int call) {
        await().atMost(SOON).until(() -> callsOf(order).size() == call);
    }

    private static List<Call> callsOf(String order) {
        return CALLS.stream().filter(call -> call.order().equals(order)).toList();
    }

    /** Returns each receive of an order, by either application. */
    private static List<Message> received(String order) {
        return applications.stream()
                .flatMap(application -> application.bean(SqsRequests.class).received().stream())
                .filter(message -> message.body().equals(order))
                .toList();
    }

    private static double sum(Function<TestApplication, Double> value) {
        return applications.stream().mapToDouble(value::apply).sum();
    }

    private static void awaitEmptyQueues() {
        await().atMost(SOON).until(() -> QUEUES.stream().allMatch(queue -> SQS.size(queue) == 0));
    }

    /** Ends every test: each effect happened once, and no message is in the dead-letter queue. */
    private static void assertEachHandledOnce(List<String> orders) {
        awaitEmptyQueues();
        for (String order : orders) {
            assertThat(callsOf(order)).as(order).containsExactly(new Call(order, 1, false));
            assertThat(received(order)).as("receives of " + order).hasSizeLessThanOrEqualTo(RECEIVES);
        }
        assertThat(SQS.size(DEAD_LETTERS)).isZero();
        List<String> sales = new JdbcTemplate(EmbeddedDatabase.shared().dataSource(database))
                .queryForList("SELECT order_id FROM sale", String.class);
        assertThat(sales).doesNotHaveDuplicates().containsAll(ofDatabase(orders));
    }

    private static List<String> ofDatabase(List<String> orders) {
        return orders.stream().filter(order -> order.endsWith(DATABASE)).toList();
    }

    /** Sends an order to each of the three listeners, and returns the orders. */
    private static List<String> sendToAll(String test) {
        List<String> orders = QUEUES.stream().map(queue -> test + " " + queue).toList();
        IntStream.range(0, QUEUES.size()).forEach(index -> SQS.send(QUEUES.get(index), orders.get(index)));
        return orders;
    }

    @Test
    void messageThatTwoConsumersHaveAtOnceIsHandledOnce() {
        QUEUES.forEach(queue -> {
            TWINS.apart(queue);
            gate("two consumers " + queue, 1);
        });
        List<String> orders = sendToAll("two consumers");
        await().atMost(SOON)
                .until(() -> orders.stream().allMatch(order -> received(order).size() == 2));

        // Both deliveries keep the message invisible: the delivery whose handler runs, and the delivery that waits for
        // it.
        await().atMost(SOON)
                .until(() -> orders.stream()
                        .flatMap(order -> received(order).stream())
                        .allMatch(message -> isRenewed(message.receiptHandle())));
        GATES.values().forEach(CountDownLatch::countDown);

        assertEachHandledOnce(orders);
        assertThat(orders).allSatisfy(order -> assertThat(received(order)).hasSize(2));
    }

    private static boolean isRenewed(String handle) {
        return applications.stream()
                .flatMap(application ->
                        application.bean(SqsRequests.class).of(ChangeMessageVisibilityBatchRequest.class).stream())
                .flatMap(request -> request.entries().stream())
                .map(ChangeMessageVisibilityBatchRequestEntry::receiptHandle)
                .anyMatch(handle::equals);
    }

    @Test
    void messageThatIsTwiceInOneAnswerIsHandledOnce() {
        QUEUES.forEach(TWINS::together);

        List<String> orders = sendToAll("one answer");

        assertEachHandledOnce(orders);
        assertThat(orders).allSatisfy(order -> assertThat(received(order)).hasSize(2));
    }

    @Test
    void messageWhoseDeleteDoesNotStickIsRedeliveredAndIsADuplicate() {
        QUEUES.forEach(queue -> TROUBLES.next(queue, DELETE, Trouble.DOES_NOT_STICK));

        List<String> orders = sendToAll("does not stick");

        assertEachHandledOnce(orders);
        assertThat(orders).allSatisfy(order -> assertThat(received(order)).hasSize(2));
    }

    /** The queue continues to count, and moves unhandled messages to the dead-letter queue by its own count. */
    @Test
    void countsThatStandStillCostNoMessageAnAttempt() {
        QUEUES.forEach(queue -> TROUBLES.always(queue, RECEIVE, Trouble.counted(count -> 1)));
        String poison = "poison";
        FAILURES.put("third time", 2);
        FAILURES.put(poison, Integer.MAX_VALUE);

        SQS.send(SINGLE, "third time");
        SQS.send(BATCH, poison);

        await().atMost(SOON).until(() -> SQS.size(DEAD_LETTERS) == 1);
        awaitEmptyQueues();
        assertThat(callsOf("third time")).extracting(Call::attempt).containsExactly(1, 2, 3);
        assertThat(callsOf(poison)).extracting(Call::attempt).containsExactly(1, 2, 3);
        emptyDeadLetters(poison);
    }

    private static void emptyDeadLetters(String body) {
        List<Message> dead = SQS.client()
                .receiveMessage(request -> request.queueUrl(SQS.urlOf(DEAD_LETTERS)))
                .messages();
        assertThat(dead).extracting(Message::body).containsExactly(body);
        SQS.client()
                .deleteMessage(request -> request.queueUrl(SQS.urlOf(DEAD_LETTERS))
                        .receiptHandle(dead.get(0).receiptHandle()));
    }

    /** The count exceeds the queue's own limit, although the queue still delivers the messages. */
    @Test
    void countsThatSkipCostNoMessageAnAttempt() {
        QUEUES.forEach(queue -> {
            TROUBLES.always(queue, RECEIVE, Trouble.counted(count -> count * 7));
            FAILURES.put("skips " + queue, 1);
        });

        List<String> orders = sendToAll("skips");

        awaitEmptyQueues();
        assertThat(orders).allSatisfy(order -> assertThat(callsOf(order)).hasSize(2));
        assertThat(SQS.size(DEAD_LETTERS)).isZero();
    }

    @Test
    void messagesThatOvertakeEachOtherAreEachHandledOnce() {
        CompletableFuture<Void> late = new CompletableFuture<>();
        TROUBLES.next(SINGLE, RECEIVE, Trouble.held(late));
        TROUBLES.always(SINGLE, RECEIVE, Trouble.REVERSED);
        SQS.send(SINGLE, "overtaken");
        await().atMost(SOON).until(() -> SQS.visible(SINGLE) == 0);

        List<String> others =
                IntStream.range(0, 6).mapToObj(i -> "order " + i % 3).toList();
        others.forEach(order -> SQS.send(SINGLE, order));
        // The first message may also have been redelivered and handled by now.
        await().atMost(SOON).until(() -> SQS.size(SINGLE) <= 1);
        late.complete(null);

        assertEachHandledOnce(Stream.concat(others.stream().distinct(), Stream.of("overtaken"))
                .toList());
    }

    /**
     * The messages are invisible, and the application does not have them. The queue redelivers them when their timeout
     * ends.
     */
    @Test
    void receiveWhoseAnswerIsLostLosesNoMessage() {
        QUEUES.forEach(queue -> TROUBLES.next(queue, RECEIVE, Trouble.ANSWER_LOST));

        List<String> orders = sendToAll("lost receive");

        assertEachHandledOnce(orders);
        assertThat(orders)
                .allSatisfy(order -> assertThat(received(order))
                        .singleElement()
                        .satisfies(second -> assertThat(second.attributes())
                                .containsEntry(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, "2")));
    }

    /** The SDK sends the delete again, and AWS accepts it. */
    @Test
    void deleteWhoseAnswerIsLostIsRepeatedAndCostsNothing(CapturedOutput output) {
        QUEUES.forEach(queue -> TROUBLES.next(queue, DELETE, Trouble.ANSWER_LOST));

        List<String> orders = sendToAll("lost delete");

        assertEachHandledOnce(orders);
        assertThat(orders).allSatisfy(order -> assertThat(received(order)).hasSize(1));
        assertThat(output).doesNotContain("Deleting");
    }

    /**
     * The response to a first renewal is lost. The SDK repeats the request, and is throttled by a response with status
     * 200.
     */
    @Test
    void renewalWhoseAnswerIsLostAndWhoseEntryIsThrottledKeepsItsVisibilityTimeout() {
        TROUBLES.next(SINGLE, CHANGE, Trouble.ANSWER_LOST);
        TROUBLES.next(SINGLE, CHANGE, Trouble.fails(1, SqsError.THROTTLED));
        double renewed = sum(AtLeastOnceIT::renewals);
        CountDownLatch gate = gate("throttled", 1);
        SQS.send(SINGLE, "throttled");
        awaitCall("throttled", 1);

        await().atMost(SOON).until(() -> sum(AtLeastOnceIT::renewals) >= renewed + 2);
        gate.countDown();

        assertEachHandledOnce(List.of("throttled"));
        assertThat(received("throttled")).hasSize(1);
    }

    private static double renewals(TestApplication application) {
        return application.count(
                "exactly.once.renewals", "listener", "single", "target", "window", "result", "succeeded");
    }

    @Test
    void returnWhoseAnswerIsLostCostsOneReceive() {
        FAILURES.put("returned", 1);
        TROUBLES.next(SINGLE, CHANGE, Trouble.ANSWER_LOST);
        SQS.send(SINGLE, "returned");

        awaitEmptyQueues();
        assertThat(callsOf("returned")).containsExactly(new Call("returned", 1, false), new Call("returned", 2, false));
        assertThat(received("returned")).hasSize(2);
    }

    /**
     * An old receipt handle still works on a standard queue, and makes a message visible that another delivery is
     * handling (N13).
     */
    @Test
    void returnThatArrivesAgainDuringTheNextAttemptExposesTheMessageAndTheClaimProtectsTheKey() {
        CompletableFuture<Void> again = new CompletableFuture<>();
        FAILURES.put("exposed", 1);
        TROUBLES.next(SINGLE, CHANGE, Trouble.repeated(again));
        CountDownLatch gate = gate("exposed", 2);
        SQS.send(SINGLE, "exposed");
        awaitCall("exposed", 2);

        // The visibility timeout of one second ends before the owner's next renewal. Otherwise that renewal would hide
        // the message again.
        TROUBLES.always(SINGLE, CHANGE, Trouble.REQUEST_LOST);
        again.complete(null);
        await().atMost(SOON).until(() -> received("exposed").size() == 3);
        assertThat(TROUBLES.none()).isZero();
        gate.countDown();

        awaitEmptyQueues();
        assertThat(callsOf("exposed")).containsExactly(new Call("exposed", 1, false), new Call("exposed", 2, false));
        assertThat(SQS.size(DEAD_LETTERS)).isZero();
    }

    @Test
    void entriesOfABatchOfDeletesThatFailForNowAreSentAgain() {
        TROUBLES.next(SINGLE, DELETE, Trouble.fails(1, SqsError.INTERNAL));
        TROUBLES.next(BATCH, DELETE, Trouble.fails(1, SqsError.THROTTLED));

        assertThat(receivesOfFiveOnEachQueue("for now")).containsOnly(Map.entry(1, 10L));
        assertThat(TROUBLES.none()).isZero();
    }

    @Test
    void messagesWhoseDeletesFailForGoodAreRedeliveredAndTheOthersAreNot() {
        SqsError refused = new SqsError("InvalidParameterValue", "The request cannot be done", true);
        TROUBLES.next(SINGLE, DELETE, Trouble.fails(1, refused));
        TROUBLES.next(BATCH, DELETE, Trouble.fails(1, refused));

        assertThat(receivesOfFiveOnEachQueue("for good")).containsOnly(Map.entry(1, 8L), Map.entry(2, 2L));
    }

    /** Returns for each receive count how many messages have it. */
    private static Map<Integer, Long> receivesOfFiveOnEachQueue(String name) {
        List<String> orders = Stream.of(SINGLE, BATCH)
                .flatMap(queue -> IntStream.range(0, 5).mapToObj(i -> name + " " + i + " " + queue))
                .toList();

        orders.forEach(order -> SQS.send(order.endsWith(BATCH) ? BATCH : SINGLE, order));

        assertEachHandledOnce(orders);
        return orders.stream()
                .collect(Collectors.groupingBy(order -> received(order).size(), Collectors.counting()));
    }

    /** Another delivery has received and handled the message in the meantime. */
    @Test
    void answerThatIsOlderThanItsVisibilityTimeoutIsNeverActedUpon() {
        CompletableFuture<Void> late = new CompletableFuture<>();
        TROUBLES.next(SINGLE, RECEIVE, Trouble.held(late));
        CountDownLatch gate = gate("stale", 1);
        SQS.send(SINGLE, "stale");
        awaitCall("stale", 1);
        double waiting = sum(application ->
                application.count("exactly.once.claims", "listener", "single", "outcome", "held_elsewhere"));

        late.complete(null);
        await().atMost(SOON).until(() -> received("stale").size() == 2);
        await().atMost(SOON)
                .until(() -> sum(application -> application.count(
                                "exactly.once.claims", "listener", "single", "outcome", "held_elsewhere"))
                        > waiting);
        gate.countDown();

        assertEachHandledOnce(List.of("stale"));
        String old = received("stale").stream()
                .filter(message -> message.attributes()
                        .get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT)
                        .equals("1"))
                .findFirst()
                .orElseThrow()
                .receiptHandle();
        assertThat(TROUBLES.calls(SINGLE, CHANGE))
                .noneMatch(call -> call.receiptHandles().contains(old));
    }
}
