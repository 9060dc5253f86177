package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.FifoBatchGroupingStrategy;
import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.TaskExecutorAware;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.listener.sink.MessageProcessingPipelineSink;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.ScriptedStore;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.SmartLifecycle;
import org.springframework.messaging.Message;

class ComponentFactoryTests {

    static class Listener {
        @ExactlyOnceListener(queueNames = "orders.fifo")
        void handle(List<String> orders) {}
    }

    private final FakeClock clock = new FakeClock();
    private final DeliveryObserver noObserver = new DeliveryObserver() {};
    private final Deliveries deliveries = new Deliveries(
            new RenewalSupervisor(
                    new ScriptedStore(), new RenewalSchedule(0.5, 0, 3), noObserver, Runnable::run, clock, () -> 0),
            noObserver,
            new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5)),
            clock,
            () -> 0,
            10);
    private final Subscription subscription =
            new Subscription("listener", "orders.fifo", VisibilityWindow.ofSeconds(30), new ScriptedQueue());
    private final List<List<String>> batches = new ArrayList<>();

    private final MessageProcessingPipeline<String> pipeline = new MessageProcessingPipeline<>() {
        @Override
        public CompletableFuture<Collection<Message<String>>> process(
                Collection<Message<String>> messages, MessageProcessingContext<String> context) {
            batches.add(messages.stream()
                    .map(message -> ReceivedMessage.require(message).delivery().messageId())
                    .toList());
            return CompletableFuture.completedFuture(messages);
        }
    };

    private Message<String> receive(String id, String group) {
        Delivery delivery = new Delivery(subscription, id, id, 1, clock.nanoTime());
        return new ReceivedMessage(delivery, null, group, "body", UnknownOrigin.INSTANCE)
                .attachTo(ListenerRig.message(Map.of()), Map.of());
    }

    @ParameterizedTest
    @EnumSource
    void batchesHoldOneGroupOrSeveralAsIsConfigured(FifoBatchGroupingStrategy strategy) {
        MessageSink<String> sink = new ComponentFactory<String>(
                        ListenerRig.engine(deliveries),
                        "listener",
                        ListenerRig.settings(new Listener(), "handle"),
                        true)
                .createMessageSink(SqsContainerOptions.builder()
                        .listenerMode(ListenerMode.BATCH)
                        .fifoBatchGroupingStrategy(strategy)
                        .build());
        ((TaskExecutorAware) sink).setTaskExecutor(Runnable::run);
        ((MessageProcessingPipelineSink<String>) sink).setMessagePipeline(pipeline);
        ((SmartLifecycle) sink).start();

        sink.emit(
                        List.of(receive("a1", "a"), receive("b1", "b"), receive("a2", "a")),
                        MessageProcessingContext.create())
                .join();

        if (strategy == FifoBatchGroupingStrategy.PROCESS_MESSAGE_GROUPS_IN_PARALLEL_BATCHES) {
            assertThat(batches).containsExactlyInAnyOrder(List.of("a1", "a2"), List.of("b1"));
        } else {
            assertThat(batches).containsExactly(List.of("a1", "b1", "a2"));
        }
    }
}
