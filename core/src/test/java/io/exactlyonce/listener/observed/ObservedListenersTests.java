package io.exactlyonce.listener.observed;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.config.SqsEndpoint;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.AsyncMessageListener;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.awspring.cloud.sqs.listener.StandardSqsComponentFactory;
import io.awspring.cloud.sqs.listener.TaskExecutorAware;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementHandler;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.AcknowledgementMode;
import io.awspring.cloud.sqs.listener.acknowledgement.handler.NeverAcknowledgementHandler;
import io.exactlyonce.ClaimMode;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.container.ListenerEndpoint;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.listener.startup.ListenerRegistry;
import io.exactlyonce.listener.startup.SharedQueues;
import io.exactlyonce.observed.ObservedClaims;
import io.exactlyonce.queue.ScriptedStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageBuilder;

class ObservedListenersTests {

    @ParameterizedTest
    @CsvSource({",27", "PT30S,27", "PT10S,9", "PT2S,1", "PT1S,1", "PT0S,1", "PT1.5S,1", "PT12H,38880", "PT24H,43200"})
    void leaseEndsBeforeTheVisibilityTimeoutThatIsConfiguredOrUsual(
            @Nullable Duration visibilityTimeout, long seconds) {
        assertThat(ObservedListeners.lease(visibilityTimeout).length()).isEqualTo(Duration.ofSeconds(seconds));
    }

    static class Orders {
        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        void handle(String order) {}
    }

    /** A factory whose containers never acknowledge messages, whatever their options say. */
    private static final class Unacknowledging extends StandardSqsComponentFactory<Object> {
        @Override
        public AcknowledgementHandler<Object> createAcknowledgementHandler(SqsContainerOptions options) {
            return new NeverAcknowledgementHandler<>();
        }
    }

    private static Message<Object> message() {
        return MessageBuilder.<Object>withPayload("o1")
                .setHeader(
                        SqsHeaders.SQS_SOURCE_DATA_HEADER,
                        software.amazon.awssdk.services.sqs.model.Message.builder()
                                .messageId("id")
                                .receiptHandle("receipt")
                                .body("o1")
                                .build())
                .setHeader(
                        SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER,
                        new QueueAttributes("orders", "http://sqs.example.com/000000000000/orders", Map.of()))
                .build();
    }

    private final ScriptedStore store = new ScriptedStore();

    private SqsMessageListenerContainer<Object> container() {
        SqsEndpoint endpoint = SqsEndpoint.builder()
                .queueNames(List.of("orders"))
                .id("fulfilment")
                .build();
        endpoint.setBean(new Orders());
        endpoint.setMethod(ListenerRig.method(Orders.class, "handle"));
        endpoint.setHandlerMethodFactory(ListenerRig.handlerMethods(ClaimMode.OBSERVE));
        ObservedListeners observing = new ObservedListeners(() -> new ObservedClaims(
                store,
                new OutcomePolicy(
                        new ClaimSettings("worker", null),
                        new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5))),
                () -> {},
                List.of(),
                Runnable::run,
                10));
        return SqsMessageListenerContainerFactory.builder()
                .sqsAsyncClient(new FakeReceives())
                .build()
                .createContainer(new ListenerEndpoint(
                        endpoint,
                        (made, settings) ->
                                observing.setUp(made, endpoint, settings, new SharedQueues(new ListenerRegistry()))));
    }

    private void handle(SqsMessageListenerContainer<Object> container) {
        AsyncMessageListener<Object> listener = container.getMessageListener();
        ((TaskExecutorAware) listener).setTaskExecutor(new SyncTaskExecutor());
        listener.onMessage(message());
    }

    @Test
    void handlerOfAContainerThatDeletesMessagesCompletesItsKey() {
        handle(container());

        assertThat(store.completions()).hasSize(1);
    }

    /**
     * A subclass of Spring Cloud AWS's factory, or code that uses the registry, can change a container after its setup.
     */
    @Test
    void handlerOfAContainerThatIsConfiguredLaterNotToDeleteMessagesCompletesNoKey() {
        SqsMessageListenerContainer<Object> container = container();
        container.configure(options -> options.acknowledgementMode(AcknowledgementMode.MANUAL));

        handle(container);

        assertThat(store.completions()).isEmpty();
        assertThat(store.releases()).hasSize(1);
    }

    @Test
    void handlerOfAContainerWithComponentFactoriesOfTheApplicationsCompletesNoKey() {
        SqsMessageListenerContainer<Object> container = container();
        container.setComponentFactories(List.of(new Unacknowledging()));

        handle(container);

        assertThat(store.completions()).isEmpty();
        assertThat(store.releases()).hasSize(1);
    }
}
