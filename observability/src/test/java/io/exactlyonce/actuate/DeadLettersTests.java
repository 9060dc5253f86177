package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.actuate.DeadLetters.Redrives;
import io.exactlyonce.actuate.DeadLetters.Shown;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.queue.MessageKeys;
import io.exactlyonce.queue.QueueAttributes;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
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
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageResponse;

/** Traps: two queues of one listener share a dead-letter queue; a search fails after messages were sent. */
@ExtendWith(OutputCaptureExtension.class)
class DeadLettersTests {

    private static final String ARN = "arn:aws:sqs:eu-central-1:123456789012:";
    private static final String URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";

    /** One dead-letter queue, which makes received messages visible again. */
    private static final class Sqs implements SqsAsyncClient {
        private final Map<String, Message> dead = new LinkedHashMap<>();
        private final List<SendMessageRequest> sent = new ArrayList<>();
        private String policy = "";
        private int receives;
        private int failsFrom = Integer.MAX_VALUE;

        @Override
        public CompletableFuture<GetQueueUrlResponse> getQueueUrl(GetQueueUrlRequest request) {
            return CompletableFuture.completedFuture(GetQueueUrlResponse.builder()
                    .queueUrl(URL + request.queueName())
                    .build());
        }

        @Override
        public CompletableFuture<GetQueueAttributesResponse> getQueueAttributes(GetQueueAttributesRequest request) {
            return CompletableFuture.completedFuture(GetQueueAttributesResponse.builder()
                    .attributes(Map.of(QueueAttributeName.REDRIVE_POLICY, policy))
                    .build());
        }

        @Override
        public CompletableFuture<ReceiveMessageResponse> receiveMessage(ReceiveMessageRequest request) {
            receives++;
            return receives >= failsFrom
                    ? CompletableFuture.failedFuture(SdkClientException.create("no answer"))
                    : CompletableFuture.completedFuture(ReceiveMessageResponse.builder()
                            .messages(request.queueUrl().equals(URL + "dead") ? dead.values() : List.of())
                            .build());
        }

        @Override
        public CompletableFuture<SendMessageResponse> sendMessage(SendMessageRequest request) {
            sent.add(request);
            return CompletableFuture.completedFuture(SendMessageResponse.builder()
                    .messageId("new-" + sent.size())
                    .build());
        }

        @Override
        public CompletableFuture<DeleteMessageResponse> deleteMessage(DeleteMessageRequest request) {
            dead.remove(request.receiptHandle());
            return CompletableFuture.completedFuture(
                    DeleteMessageResponse.builder().build());
        }

        @Override
        public CompletableFuture<ChangeMessageVisibilityBatchResponse> changeMessageVisibilityBatch(
                ChangeMessageVisibilityBatchRequest request) {
            return CompletableFuture.completedFuture(
                    ChangeMessageVisibilityBatchResponse.builder().build());
        }

        @Override
        public String serviceName() {
            return "sqs";
        }

        @Override
        public void close() {}
    }

    private final Sqs sqs = new Sqs();
    private final DeadLetters letters = new DeadLetters(null, InstantSource.system());
    private final List<Subscription> subscriptions = Stream.of("orders", "refunds")
            .map(queue -> subscription(queue, "dead"))
            .toList();

    private Subscription subscription(String name, String target) {
        VisibilityWindow window = VisibilityWindow.ofSeconds(30);
        SqsQueue queue = new SqsQueue(sqs, URL + name, window);
        queue.watch(
                new QueueAttributes(Map.of(
                        QueueAttributeName.QUEUE_ARN,
                        ARN + name,
                        QueueAttributeName.REDRIVE_POLICY,
                        "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":5}".formatted(ARN + target))),
                read -> {});
        queue.keysBy(message -> new MessageKeys.Key("orders", message.body(), null));
        return new Subscription("fulfilment", name, window, queue);
    }

    private void put(String id, String queue) {
        put(id, queue, "body of " + id);
    }

    private void put(String id, String queue, String body) {
        sqs.dead.put(
                id,
                Message.builder()
                        .messageId(id)
                        .receiptHandle(id)
                        .body(body)
                        .attributes(Map.of(MessageSystemAttributeName.DEAD_LETTER_QUEUE_SOURCE_ARN, ARN + queue))
                        .build());
    }

    private Redrives redrive(int status, String... ids) {
        var answer = letters.redrive("'operator'", "fulfilment", subscriptions, Set.of(ids), false, "article is back");
        assertThat(answer.getStatus()).isEqualTo(status);
        return (Redrives) answer.getBody();
    }

    @Test
    void redriveOfASharedDeadLetterQueueSendsEachMessageToItsOwnQueue(CapturedOutput output) {
        put("1", "orders");
        put("2", "refunds");

        Redrives redrives = redrive(200, "1", "2");

        assertThat(redrives.redriven()).extracting(DeadLetters.Back::queue).containsExactly("orders", "refunds");
        assertThat(redrives.notRedriven()).isEmpty();
        assertThat(sqs.sent).extracting(SendMessageRequest::queueUrl).containsExactly(URL + "orders", URL + "refunds");
        assertThat(output)
                .contains(
                        "'operator' asked to redrive 2 chosen dead letters of listener 'fulfilment', because \"article is back\": 2 redriven, 0 not",
                        "'operator' redrove the dead letter 1 to orders as new-1",
                        "'operator' redrove the dead letter 2 to refunds as new-2");
    }

    /** A key may have many messages, and a listener many queues. */
    @Test
    void redriveByKeysRedrivesAtMostTenMessagesOfAllQueues() {
        IntStream.range(0, 7).forEach(number -> {
            put("order-" + number, "orders", "order");
            put("refund-" + number, "refunds", "refund");
        });
        put("other", "refunds", "other");

        Redrives redrives = (Redrives) letters.redrive(
                        "'operator'", "fulfilment", subscriptions, hashes("order", "refund"), true, "article is back")
                .getBody();

        assertThat(redrives.redriven())
                .hasSize(10)
                .extracting(DeadLetters.Back::keyHash)
                .doesNotContainNull();
        assertThat(sqs.sent).hasSize(10);
        assertThat(redrives.notRedriven()).isEmpty();
    }

    @Test
    void redriveNamesTheKeyForWhichTenMessagesLeftNoRoom() {
        IntStream.range(0, 10).forEach(number -> put("order-" + number, "orders", "order"));
        put("refund", "refunds", "refund");

        Redrives redrives = (Redrives) letters.redrive(
                        "'operator'", "fulfilment", subscriptions, hashes("order", "refund"), true, "article is back")
                .getBody();

        assertThat(redrives.redriven()).hasSize(10);
        assertThat(redrives.notRedriven()).singleElement().satisfies(left -> {
            assertThat(left.keyHash()).isEqualTo(new ClaimKey("orders", "refund").keyHash());
            assertThat(left.reason()).contains("ten other messages");
        });
    }

    private static Set<String> hashes(String... keys) {
        return Stream.of(keys).map(key -> new ClaimKey("orders", key).keyHash()).collect(Collectors.toSet());
    }

    /** The redrive policy of the message's queue may have changed after SQS moved the message. */
    @Test
    void messageOfAQueueThatHasAnotherDeadLetterQueueByNowIsShownWithTheReasonWhyItStays() {
        put("1", "refunds");
        List<Subscription> moved = List.of(subscription("orders", "dead"), subscription("refunds", "new-dead"));

        Shown shown = (Shown) letters.show("fulfilment", moved, key -> "******").getBody();
        Redrives redrives =
                (Redrives) letters.redrive("'operator'", "fulfilment", moved, Set.of("1"), false, "article is back")
                        .getBody();

        assertThat(shown.queues().get(0).messages())
                .extracting(DeadLetters.ShownMessage::messageId)
                .containsExactly("1");
        assertThat(redrives.notRedriven())
                .singleElement()
                .satisfies(left -> assertThat(left.reason()).contains("it came from the queue 'refunds'"));
        assertThat(sqs.sent).isEmpty();
    }

    @Test
    void redriveOfAMessageOfAnotherListenersQueueNamesThatQueue() {
        put("1", "invoices");

        assertThat(redrive(200, "1").notRedriven())
                .singleElement()
                .satisfies(left -> assertThat(left.reason()).contains("it came from the queue 'invoices'"));
        assertThat(sqs.sent).isEmpty();
    }

    @Test
    void redriveWhoseSearchFailsLaterNamesWhatWasSentAndWhatWasNot() {
        put("1", "orders");
        sqs.failsFrom = 2;

        Redrives redrives = redrive(502, "1", "2");

        assertThat(redrives.redriven()).extracting(DeadLetters.Back::messageId).containsExactly("1");
        assertThat(redrives.notRedriven())
                .extracting(DeadLetters.Left::messageId)
                .containsExactly("2");
    }

    /** A search receives messages. After enough receives, SQS would move messages that the operator has not chosen. */
    @Test
    void redriveFromAQueueWithADeadLetterQueueOfItsOwnReturnsWhyItIsNotSearched() {
        put("1", "orders");
        sqs.policy = "{\"deadLetterTargetArn\":\"%sgraveyard\",\"maxReceiveCount\":1}".formatted(ARN);

        assertThat(redrive(200, "1").notRedriven())
                .singleElement()
                .satisfies(left -> assertThat(left.reason()).contains("'dead' was not searched", "'graveyard'"));
        assertThat(sqs.receives).isZero();
    }

    @Test
    void sharedDeadLetterQueueShowsEachMessageOnceWithItsQueue() {
        put("1", "orders");
        put("2", "refunds");
        put("3", "invoices");

        Shown shown = (Shown)
                letters.show("fulfilment", subscriptions, key -> "******").getBody();

        assertThat(shown.queues())
                .extracting(queue -> queue.messages().stream()
                        .filter(DeadLetters.ShownMessage::isRedrivable)
                        .map(DeadLetters.ShownMessage::messageId)
                        .toList())
                .containsExactly(List.of("1"), List.of("2"));
    }
}
