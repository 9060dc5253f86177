package io.exactlyonce.benchmarks.worker;

import com.jashmore.sqs.QueueProperties;
import com.jashmore.sqs.decorator.AutoVisibilityExtenderMessageProcessingDecorator;
import com.jashmore.sqs.decorator.AutoVisibilityExtenderMessageProcessingDecoratorProperties;
import com.jashmore.sqs.decorator.MessageProcessingContext;
import com.jashmore.sqs.decorator.MessageProcessingDecorator;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.messaging.handler.annotation.Header;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;

/** Uses the extender of java-dynamic-sqs-listener, by default two seconds before the end of each visibility timeout. */
class HeldExtenderOrders {

    private final HeldWork work;
    private final SqsAsyncClient sqs;
    private final Terms terms;
    private final Map<String, MessageProcessingDecorator> extenders = new ConcurrentHashMap<>();

    HeldExtenderOrders(HeldWork work, SqsAsyncClient sqs, @Value("${bench.window}") int windowSeconds) {
        this.work = work;
        this.sqs = sqs;
        this.terms = new Terms(windowSeconds);
    }

    @SqsListener(queueNames = "${bench.queue}", id = "orders")
    CompletableFuture<Void> handle(
            Order order,
            @Header(SqsHeaders.SQS_QUEUE_URL_HEADER) String queueUrl,
            @Header(SqsHeaders.SQS_SOURCE_DATA_HEADER) Message message) {
        QueueProperties queue = QueueProperties.builder().queueUrl(queueUrl).build();
        MessageProcessingContext context = MessageProcessingContext.builder()
                .listenerIdentifier("orders")
                .attributes(new HashMap<>())
                .queueProperties(queue)
                .build();
        MessageProcessingDecorator extender = extenders.computeIfAbsent(
                queueUrl, url -> new AutoVisibilityExtenderMessageProcessingDecorator(sqs, queue, terms));
        extender.onPreMessageProcessing(context, message);
        return work.on(order).whenComplete((done, failure) -> extender.onMessageResolve(context, message));
    }

    private record Terms(int windowSeconds) implements AutoVisibilityExtenderMessageProcessingDecoratorProperties {

        @Override
        public Duration visibilityTimeout() {
            return Duration.ofSeconds(windowSeconds);
        }

        @Override
        public Duration maxDuration() {
            return Duration.ofHours(12);
        }
    }
}
