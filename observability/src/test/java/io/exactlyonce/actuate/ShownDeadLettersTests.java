package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.exactlyonce.actuate.DeadLetters.Shown;
import io.exactlyonce.actuate.DeadLetters.ShownMessage;
import io.exactlyonce.queue.MessageKeys;
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.QueueAttributes;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchResponse;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesResponse;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/**
 * Trap: a sender writes the text of a dead letter. Logs must not quote this text, and callers without the right to see
 * keys must not see keys or groups.
 */
@ExtendWith(OutputCaptureExtension.class)
class ShownDeadLettersTests {

    private static final String ARN = "arn:aws:sqs:eu-central-1:123456789012:";
    private static final String URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";

    private static final Message LETTER = Message.builder()
            .messageId("1")
            .receiptHandle("handle")
            .body("card-4711")
            .attributes(Map.of(MessageSystemAttributeName.MESSAGE_GROUP_ID, "customer-4711"))
            .build();

    private static final class OneLetter implements SqsAsyncClient {

        @Override
        public CompletableFuture<GetQueueUrlResponse> getQueueUrl(GetQueueUrlRequest request) {
            return CompletableFuture.completedFuture(GetQueueUrlResponse.builder()
                    .queueUrl(URL + request.queueName())
                    .build());
        }

        @Override
        public CompletableFuture<GetQueueAttributesResponse> getQueueAttributes(GetQueueAttributesRequest request) {
            return CompletableFuture.completedFuture(
                    GetQueueAttributesResponse.builder().attributes(Map.of()).build());
        }

        @Override
        public CompletableFuture<ReceiveMessageResponse> receiveMessage(ReceiveMessageRequest request) {
            return CompletableFuture.completedFuture(
                    ReceiveMessageResponse.builder().messages(LETTER).build());
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

    private final VisibilityWindow window = VisibilityWindow.ofSeconds(30);
    private final SqsQueue queue = new SqsQueue(new OneLetter(), URL + "orders", window);
    private final DeadLetters letters = new DeadLetters(null, InstantSource.system());

    private List<Subscription> subscriptions() {
        queue.watch(
                new QueueAttributes(Map.of(
                        QueueAttributeName.QUEUE_ARN,
                        ARN + "orders",
                        QueueAttributeName.REDRIVE_POLICY,
                        "{\"deadLetterTargetArn\":\"%sdead\",\"maxReceiveCount\":5}".formatted(ARN))),
                read -> {});
        return List.of(
                new Subscription("listener", "orders", new QueueSettings(window, 5), null, queue, PollGate.OPEN));
    }

    private ShownMessage shown(UnaryOperator<String> keys) {
        Shown shown = (Shown) letters.show("listener", subscriptions(), keys).getBody();
        return shown.queues().get(0).messages().get(0);
    }

    @Test
    void groupIsShownToThoseWhoSeeKeys() {
        queue.keysBy(message -> new MessageKeys.Key("orders", message.body(), null));

        assertThat(shown(key -> "******").toString()).contains("******").doesNotContain("4711");
        assertThat(shown(key -> key))
                .extracting(ShownMessage::key, ShownMessage::group)
                .containsExactly("card-4711", "customer-4711");
    }

    @Test
    void deadLetterThatCannotBeReadIsQuotedInNoLog(CapturedOutput output) {
        Logger logger = (Logger) LoggerFactory.getLogger("io.exactlyonce");
        Level before = logger.getLevel();
        logger.setLevel(Level.DEBUG);
        queue.keysBy(message -> {
            throw new IllegalStateException("Cannot deserialize " + message.body());
        });
        try {
            assertThat(shown(key -> key).reason()).contains("IllegalStateException");
            letters.redrive("'operator'", "listener", subscriptions(), Set.of("hash"), true, "why");
        } finally {
            logger.setLevel(before);
        }

        assertThat(output).contains("has no usable key").doesNotContain("card-4711");
    }
}
