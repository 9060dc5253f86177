package io.exactlyonce.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.queue.DeadLetterQueue.Redriven;
import io.exactlyonce.queue.DeadLetterQueue.Search;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchResponse;
import software.amazon.awssdk.services.sqs.model.DeleteMessageRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageResponse;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesResponse;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeNameForSends;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageResponse;

/**
 * Tests three traps of a redrive: a message that is deleted before its copy is sent, a copy that SQS drops as a
 * duplicate, and a copy without its attributes and group.
 */
class DeadLetterQueueTests {

    private static final Instant NOON = Instant.parse("2026-11-28T12:00:00Z");
    private static final String ARN = "arn:aws:sqs:eu-central-1:123456789012:";
    private static final String URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";
    private static final SdkBytes BYTES = SdkBytes.fromByteArray(new byte[] {0, (byte) 0xFF, 10});

    private static final class Killed extends Error {}

    /** A queue and its dead-letter queue. */
    private static final class TwoQueues implements SqsAsyncClient {
        private final Map<String, Message> dead = new LinkedHashMap<>();
        private final Set<String> invisible = new HashSet<>();
        private final List<SendMessageRequest> sent = new ArrayList<>();
        private int requests;
        private int receives;
        private int killedAt = Integer.MAX_VALUE;
        private boolean isLateDeath;
        private String refused = "";
        private String refusedBody = "";
        private int receivesThatFail;
        private String policy = "";

        /**
         * Answers a request, or kills the process. SQS executes the request of a killed process only if {@code
         * isLateDeath} is true.
         */
        private <T> CompletableFuture<T> answer(String action, Supplier<T> answer) {
            requests++;
            if (requests == killedAt && isLateDeath) {
                answer.get();
            }
            if (requests >= killedAt) {
                throw new Killed();
            }
            return action.equals(refused)
                    ? CompletableFuture.failedFuture(SdkClientException.create("refused"))
                    : CompletableFuture.completedFuture(answer.get());
        }

        @Override
        public CompletableFuture<GetQueueUrlResponse> getQueueUrl(GetQueueUrlRequest request) {
            return answer(
                    "url",
                    () -> GetQueueUrlResponse.builder()
                            .queueUrl(URL + request.queueName())
                            .build());
        }

        @Override
        public CompletableFuture<GetQueueAttributesResponse> getQueueAttributes(GetQueueAttributesRequest request) {
            return answer(
                    "attributes",
                    () -> GetQueueAttributesResponse.builder()
                            .attributes(Map.of(
                                    QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                                    String.valueOf(dead.size()),
                                    QueueAttributeName.REDRIVE_POLICY,
                                    policy))
                            .build());
        }

        @Override
        public CompletableFuture<ReceiveMessageResponse> receiveMessage(ReceiveMessageRequest request) {
            receives++;
            if (receives == receivesThatFail) {
                return CompletableFuture.failedFuture(SdkClientException.create("no answer"));
            }
            return answer("receive", () -> {
                List<Message> found = dead.values().stream()
                        .filter(message -> !invisible.contains(message.messageId()))
                        .limit(request.maxNumberOfMessages())
                        // Each answer has its own copies, so that the tests can count the messages that stay in memory.
                        .map(message -> message.toBuilder().build())
                        .toList();
                if (request.visibilityTimeout() > 0) {
                    found.forEach(message -> invisible.add(message.messageId()));
                }
                return ReceiveMessageResponse.builder().messages(found).build();
            });
        }

        @Override
        public CompletableFuture<SendMessageResponse> sendMessage(SendMessageRequest request) {
            if (request.messageBody().equals(refusedBody)) {
                return CompletableFuture.failedFuture(SdkClientException.create("refused"));
            }
            return answer("send", () -> {
                sent.add(request);
                return SendMessageResponse.builder()
                        .messageId("new-" + sent.size())
                        .build();
            });
        }

        @Override
        public CompletableFuture<DeleteMessageResponse> deleteMessage(DeleteMessageRequest request) {
            return answer("delete", () -> {
                dead.remove(request.receiptHandle());
                return DeleteMessageResponse.builder().build();
            });
        }

        @Override
        public CompletableFuture<ChangeMessageVisibilityBatchResponse> changeMessageVisibilityBatch(
                ChangeMessageVisibilityBatchRequest request) {
            return answer("show", () -> {
                request.entries().forEach(entry -> invisible.remove(entry.receiptHandle()));
                return ChangeMessageVisibilityBatchResponse.builder().build();
            });
        }

        /** Returns the bodies of all messages in either queue. */
        private Set<String> bodies() {
            Set<String> bodies = new HashSet<>();
            dead.values().forEach(message -> bodies.add(message.body()));
            sent.forEach(message -> bodies.add(message.messageBody()));
            return bodies;
        }

        @Override
        public String serviceName() {
            return "sqs";
        }

        @Override
        public void close() {}
    }

    private final TwoQueues sqs = new TwoQueues();
    private final SqsQueue orders = queue("orders");
    private final DeadLetterQueue dead = deadLettersOf(orders);

    private SqsQueue queue(String name) {
        SqsQueue queue = new SqsQueue(sqs, URL + name, VisibilityWindow.ofSeconds(30));
        queue.watch(
                new QueueAttributes(Map.of(
                        QueueAttributeName.QUEUE_ARN,
                        ARN + name,
                        QueueAttributeName.REDRIVE_POLICY,
                        "{\"deadLetterTargetArn\":\"%sdead-%s\",\"maxReceiveCount\":5}".formatted(ARN, name))),
                read -> {});
        queue.keysBy(message -> new MessageKeys.Key("orders", message.body(), null));
        return queue;
    }

    private static DeadLetterQueue deadLettersOf(SqsQueue queue) {
        return Objects.requireNonNull(DeadLetterQueue.of(queue, InstantSource.fixed(NOON)));
    }

    private void put(String id, Map<MessageSystemAttributeName, String> attributes) {
        Map<MessageSystemAttributeName, String> all = new HashMap<>(attributes);
        all.putIfAbsent(
                MessageSystemAttributeName.SENT_TIMESTAMP,
                String.valueOf(NOON.minus(Duration.ofHours(1)).toEpochMilli()));
        all.putIfAbsent(MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN, ARN + "orders");
        sqs.dead.put(
                id,
                Message.builder()
                        .messageId(id)
                        .receiptHandle(id)
                        .body("body of " + id)
                        .attributes(all)
                        .messageAttributes(Map.of(
                                "bytes",
                                MessageAttributeValue.builder()
                                        .dataType("Binary.png")
                                        .binaryValue(BYTES)
                                        .build(),
                                "count",
                                MessageAttributeValue.builder()
                                        .dataType("Number.int")
                                        .stringValue("3")
                                        .build()))
                        .build());
    }

    private void put(String... ids) {
        Stream.of(ids).forEach(id -> put(id, Map.of()));
    }

    private static List<Redriven> redrive(DeadLetterQueue from, String... ids) {
        Set<String> missing = new HashSet<>(Set.of(ids));
        Set<String> wanted = Set.of(ids);
        return from.redrive(
                        message -> {
                            missing.remove(message.messageId());
                            return wanted.contains(message.messageId());
                        },
                        missing::isEmpty)
                .redriven();
    }

    @Test
    void messagesThatAreShownStayInTheQueue() {
        put("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11");

        DeadLetterQueue.Look look = dead.look();

        assertThat(look.messages()).hasSize(10);
        assertThat(look.approximateCount()).isEqualTo(11);
        assertThat(look.at()).isEqualTo(NOON);
        assertThat(sqs.invisible).isEmpty();
        assertThat(sqs.dead).hasSize(11);
    }

    /**
     * Looking at a queue must not move messages, because the operator may only have the right to read. Each receive
     * could move messages to the next dead-letter queue.
     */
    @Test
    void queueWithADeadLetterQueueOfItsOwnIsNotShown() {
        put("1");
        sqs.policy = "{\"deadLetterTargetArn\":\"%sgraveyard\",\"maxReceiveCount\":3}".formatted(ARN);

        DeadLetterQueue.Look look = dead.look();

        assertThat(look.messages()).isEmpty();
        assertThat(look.approximateCount()).isEqualTo(1);
        assertThat(look.obstacle()).contains("'graveyard'");
        assertThat(sqs.receives).isZero();
    }

    /**
     * A search receives even the messages that it does not choose, and each receive could move them to the next
     * dead-letter queue.
     */
    @Test
    void queueWithADeadLetterQueueOfItsOwnIsNotSearched() {
        put("1", "2");
        sqs.policy = "{\"deadLetterTargetArn\":\"%sgraveyard\",\"maxReceiveCount\":1}".formatted(ARN);

        Search search = dead.redrive(message -> message.messageId().equals("1"), () -> false);

        assertThat(search.redriven()).isEmpty();
        assertThat(search.obstacle()).contains("'graveyard'");
        assertThat(sqs.receives).isZero();
    }

    /** A search receives up to 500 messages, and a sender may make each message 1 MiB long. */
    @Test
    void messagesThatAreSearchedAreNotKept() {
        IntStream.range(0, 60).forEach(number -> put(String.valueOf(number)));
        List<WeakReference<Message>> searched = new ArrayList<>();
        List<Long> kept = new ArrayList<>();

        dead.redrive(
                message -> {
                    searched.add(new WeakReference<>(message));
                    return false;
                },
                () -> {
                    System.gc();
                    kept.add(searched.stream()
                            .filter(message -> message.get() != null)
                            .count());
                    return false;
                });

        assertThat(searched).hasSize(60);
        assertThat(kept).allMatch(messages -> messages <= 10, "those of one answer");
        assertThat(sqs.invisible).isEmpty();
    }

    /** A redrive may keep one response in memory. A response has ten messages at most. */
    @Test
    void messagesThatAreRedrivenAreNotKept() {
        IntStream.range(0, 20).forEach(number -> put(String.valueOf(number)));
        List<WeakReference<Message>> searched = new ArrayList<>();
        List<Long> kept = new ArrayList<>();

        Search search = dead.redrive(
                message -> {
                    searched.add(new WeakReference<>(message));
                    if (message.messageId().endsWith("0")) {
                        System.gc();
                        kept.add(searched.stream()
                                .filter(each -> each.get() != null)
                                .count());
                    }
                    return !message.messageId().equals("0");
                },
                () -> false);

        assertThat(search.redriven()).extracting(Redriven::messageId).endsWith("9", "10");
        assertThat(kept).containsExactly(1L, 1L);
    }

    @Test
    void keyWithManyMessagesIsNotRedrivenAtOnce() {
        IntStream.range(0, 60).forEach(number -> put(String.valueOf(number)));

        assertThat(dead.redrive(message -> true, () -> false).redriven()).hasSize(10);

        assertThat(sqs.dead).hasSize(50);
        assertThat(sqs.invisible).doesNotContainAnyElementsOf(sqs.dead.keySet());
    }

    /** The first response has nine chosen messages, and the second response has ten. */
    @Test
    void keyWithManyMessagesInTwoResponsesIsNotRedrivenAtOnce() {
        IntStream.range(0, 60).forEach(number -> put(String.valueOf(number)));

        List<Redriven> redriven = dead.redrive(message -> !message.messageId().equals("0"), () -> false)
                .redriven();

        assertThat(redriven).hasSize(10);
        assertThat(sqs.dead).hasSize(50);
        assertThat(sqs.invisible).doesNotContainAnyElementsOf(sqs.dead.keySet());
    }

    @Test
    void chosenMessagesAreSentAsTheyAreAndOthersStayVisible() {
        put("1", "2", "3");
        put("4", Map.of(MessageSystemAttributeName.AWS_TRACE_HEADER, "Root=1-5759e988"));

        List<Redriven> redriven = redrive(dead, "2", "4");

        assertThat(redriven)
                .extracting(Redriven::isSent, Redriven::newMessageId, Redriven::problem)
                .containsExactly(tuple(true, "new-1", null), tuple(true, "new-2", null));
        assertThat(sqs.dead).containsOnlyKeys("1", "3");
        assertThat(sqs.invisible).doesNotContain("1", "3");
        SendMessageRequest sent = sqs.sent.get(1);
        assertThat(sent.queueUrl()).isEqualTo(URL + "orders");
        assertThat(sent.messageBody()).isEqualTo("body of 4");
        assertThat(sent.messageAttributes()).hasSize(2);
        assertThat(sent.messageAttributes().get("bytes").dataType()).isEqualTo("Binary.png");
        assertThat(sent.messageAttributes().get("bytes").binaryValue()).isEqualTo(BYTES);
        assertThat(sent.messageAttributes().get("count").stringValue()).isEqualTo("3");
        assertThat(sent.messageSystemAttributes()
                        .get(MessageSystemAttributeNameForSends.AWS_TRACE_HEADER)
                        .stringValue())
                .isEqualTo("Root=1-5759e988");
        assertThat(sqs.sent.get(0).messageSystemAttributes()).isEmpty();
        assertThat(sent.messageGroupId()).isNull();
        assertThat(sent.messageDeduplicationId()).isNull();
    }

    /**
     * Each run kills the process at a different request, before or after SQS executes that request. Then an operator
     * redrives again.
     */
    @Test
    void crashAtAnyTimeLosesNoMessage() {
        int all = 0;
        for (boolean isLate : new boolean[] {false, true}) {
            for (int at = 1; at <= 12; at++) {
                DeadLetterQueueTests run = new DeadLetterQueueTests();
                run.put("1", "2", "3");
                run.sqs.killedAt = at;
                run.sqs.isLateDeath = isLate;
                Throwable death = catchThrowable(() -> redrive(run.dead, "1", "3"));
                assertThat(run.sqs.bodies())
                        .as("killed at request %d", at)
                        .containsExactlyInAnyOrder("body of 1", "body of 2", "body of 3");
                all += death == null ? 0 : 1;

                run.sqs.killedAt = Integer.MAX_VALUE;
                run.sqs.invisible.clear();
                redrive(deadLettersOf(run.orders), "1", "3");
                assertThat(run.sqs.dead).as("killed at request %d", at).containsOnlyKeys("2");
                assertThat(run.sqs.sent)
                        .extracting(SendMessageRequest::messageBody)
                        .contains("body of 1", "body of 3")
                        .hasSizeLessThanOrEqualTo(3);
            }
        }
        assertThat(all)
                .as("of url, attributes, receive, two sends, two deletes and a change of visibility")
                .isEqualTo(16);
    }

    @Test
    void messageThatSqsDoesNotAcceptStays() {
        put("1");
        sqs.refused = "send";

        assertThat(redrive(dead, "1")).singleElement().satisfies(left -> {
            assertThat(left.isSent()).isFalse();
            assertThat(left.isRefused()).isTrue();
            assertThat(left.problem()).contains("SdkClientException", "stays in the dead-letter queue");
        });
        assertThat(sqs.dead).containsOnlyKeys("1");
        assertThat(sqs.invisible).isEmpty();
    }

    @Test
    void messageThatIsNotDeletedIsSaidToBeThereTwice() {
        put("1");
        sqs.refused = "delete";

        assertThat(redrive(dead, "1")).singleElement().satisfies(both -> {
            assertThat(both.isSent()).isTrue();
            assertThat(both.problem()).contains("still in the dead-letter queue", "its key suppresses the second one");
        });
        assertThat(sqs.sent).hasSize(1);
        assertThat(sqs.dead).containsOnlyKeys("1");
    }

    @Test
    void fifoMessageKeepsGroupAndDeduplicationId() {
        DeadLetterQueue fifo = deadLettersOf(queue("orders.fifo"));
        put(
                "1",
                Map.of(
                        MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN, ARN + "orders.fifo",
                        MessageSystemAttributeName.MESSAGE_GROUP_ID, "customer-1",
                        MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID, "d-1"));

        redrive(fifo, "1");

        assertThat(sqs.sent).singleElement().satisfies(sent -> {
            assertThat(sent.messageGroupId()).isEqualTo("customer-1");
            assertThat(sent.messageDeduplicationId()).isEqualTo("d-1");
        });
    }

    /** SQS would accept the message and drop it as a duplicate, and the delete would then lose it. */
    @Test
    void fifoMessageThatSqsWouldTakeForADuplicateStays() {
        DeadLetterQueue fifo = deadLettersOf(queue("orders.fifo"));
        put(
                "1",
                Map.of(
                        MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN,
                        ARN + "orders.fifo",
                        MessageSystemAttributeName.SENT_TIMESTAMP,
                        String.valueOf(NOON.minus(Duration.ofMinutes(5)).toEpochMilli())));
        put("unknown", Map.of(MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN, ARN + "orders.fifo"));

        assertThat(redrive(fifo, "1")).singleElement().satisfies(left -> {
            assertThat(left.isSent()).isFalse();
            assertThat(left.isRefused()).isFalse();
            assertThat(left.problem()).contains("repeat this after 2026-11-28T12:01:00Z");
        });
        assertThat(sqs.sent).isEmpty();
        assertThat(sqs.dead).containsKey("1");
        assertThat(sqs.invisible).isEmpty();
    }

    @Test
    void messageOfAnotherQueueStays() {
        put("1", Map.of(MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN, ARN + "refunds"));

        assertThat(redrive(dead, "1"))
                .singleElement()
                .satisfies(left -> assertThat(left.problem()).contains("it came from the queue 'refunds'"));
        assertThat(sqs.sent).isEmpty();
    }

    /**
     * The copy gets a new message id. The old id is added as its key, because the store would neither suppress nor
     * release the copy under a new key.
     */
    @Test
    void messageWhoseIdIsItsKeyTakesTheKeyAlong() {
        orders.keysBy(message -> new MessageKeys.Key("orders", message.messageId(), "ExactlyOnce-Key"));
        put("1");

        redrive(dead, "1");

        assertThat(sqs.sent.get(0).messageAttributes().get("ExactlyOnce-Key").stringValue())
                .isEqualTo("1");
    }

    @Test
    void messageWithoutAUsableKeyIsRedrivenAsWell() {
        orders.keysBy(message -> {
            throw new IllegalStateException("unreadable");
        });
        put("1");

        assertThat(redrive(dead, "1"))
                .singleElement()
                .satisfies(done -> assertThat(done.isSent()).isTrue());
    }

    /** The operator must see which messages were sent, even if a later request gets no answer. */
    @Test
    void redriveWhoseSearchFailsLaterReportsWhatWasSent() {
        put("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11");
        sqs.receivesThatFail = 2;

        DeadLetterQueue.Search search =
                dead.redrive(message -> message.messageId().equals("1"), () -> false);

        assertThat(search.failure()).hasRootCauseInstanceOf(SdkClientException.class);
        assertThat(search.redriven())
                .singleElement()
                .satisfies(each -> assertThat(each.isSent()).isTrue());
        assertThat(sqs.dead).doesNotContainKey("1").hasSize(10);
        assertThat(sqs.invisible).containsOnly("1");
    }

    /**
     * A copy has a new message id. A copy without the old key would be handled again, although the original may have
     * been handled already.
     */
    @Test
    void messageWithoutRoomForItsKeyStays() {
        orders.keysBy(message -> new MessageKeys.Key("orders", message.messageId(), "ExactlyOnce-Key"));
        MessageAttributeValue value = MessageAttributeValue.builder()
                .dataType("String")
                .stringValue("x")
                .build();
        Map<String, MessageAttributeValue> ten =
                IntStream.range(0, 10).boxed().collect(Collectors.toMap(n -> "a" + n, n -> value));
        put("1", "2");
        sqs.dead.computeIfPresent(
                "1", (id, message) -> message.toBuilder().messageAttributes(ten).build());
        ten.remove("a9");
        sqs.dead.computeIfPresent(
                "2", (id, message) -> message.toBuilder().messageAttributes(ten).build());

        assertThat(redrive(dead, "1", "2")).extracting(Redriven::isSent).containsExactly(false, true);
        assertThat(sqs.sent)
                .singleElement()
                .satisfies(
                        sent -> assertThat(sent.messageAttributes()).hasSize(10).containsKey("ExactlyOnce-Key"));
        assertThat(sqs.dead).containsOnlyKeys("1");
    }

    @Test
    void fifoMessageBehindOneOfItsGroupThatStaysStaysAsWell() {
        DeadLetterQueue fifo = deadLettersOf(queue("orders.fifo"));
        for (String id : List.of("1", "2", "3")) {
            put(
                    id,
                    Map.of(
                            MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN,
                            ARN + "orders.fifo",
                            MessageSystemAttributeName.MESSAGE_GROUP_ID,
                            id.equals("3") ? "other" : "customer",
                            MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID,
                            id));
        }
        sqs.refusedBody = "body of 1";

        List<Redriven> redriven = redrive(fifo, "1", "2", "3");

        assertThat(redriven).extracting(Redriven::isSent).containsExactly(false, false, true);
        assertThat(redriven.get(1).problem()).contains("earlier message of its group");
        assertThat(sqs.dead).containsOnlyKeys("1", "2");
        assertThat(sqs.invisible).doesNotContain("1", "2");
    }

    /** Each queue has its own groups, even if several queues share one dead-letter queue. */
    @Test
    void fifoMessageDoesNotStayBehindOneOfAnotherQueue() {
        DeadLetterQueue fifo = deadLettersOf(queue("orders.fifo"));
        for (String id : List.of("1", "2")) {
            put(
                    id,
                    Map.of(
                            MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN,
                            ARN + (id.equals("1") ? "refunds.fifo" : "orders.fifo"),
                            MessageSystemAttributeName.MESSAGE_GROUP_ID,
                            "customer",
                            MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID,
                            id));
        }

        assertThat(redrive(fifo, "1", "2")).extracting(Redriven::isSent).containsExactly(false, true);
        assertThat(sqs.dead).containsOnlyKeys("1");
        assertThat(sqs.invisible).doesNotContain("1");
    }

    @Test
    void searchEndsWithTheQueue() {
        put("1", "2");

        assertThat(redrive(dead, "3")).isEmpty();
        assertThat(sqs.invisible).isEmpty();
        assertThat(sqs.dead).hasSize(2);
    }

    @Test
    void queueWithoutARedrivePolicyHasNone() {
        assertThat(DeadLetterQueue.of(
                        new SqsQueue(sqs, URL + "orders", VisibilityWindow.ofSeconds(30)), InstantSource.system()))
                .isNull();
    }
}
