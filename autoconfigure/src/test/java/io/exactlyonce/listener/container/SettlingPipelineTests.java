package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.ScriptedStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.Message;

/** Deliveries are received, their listener begins to stop, and only then is there a thread for them. */
class SettlingPipelineTests {

    private final FakeClock clock = new FakeClock();
    private final DeliveryObserver nobody = new DeliveryObserver() {};
    private final Deliveries deliveries = new Deliveries(
            new RenewalSupervisor(
                    new ScriptedStore(), new RenewalSchedule(0.5, 0, 3), nobody, Runnable::run, clock, () -> 0),
            nobody,
            new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5)),
            clock,
            () -> 0,
            10);
    private final MessageProcessingContext<String> context = MessageProcessingContext.create();
    private final List<Message<String>> processed = new ArrayList<>();
    private final SettlingPipeline<String> pipeline = new SettlingPipeline<>(
            new MessageProcessingPipeline<>() {
                @Override
                public CompletableFuture<Message<String>> process(
                        Message<String> message, MessageProcessingContext<String> context) {
                    processed.add(message);
                    return CompletableFuture.completedFuture(message);
                }

                @Override
                public CompletableFuture<Collection<Message<String>>> process(
                        Collection<Message<String>> messages, MessageProcessingContext<String> context) {
                    processed.addAll(messages);
                    return CompletableFuture.completedFuture(messages);
                }
            },
            deliveries);

    private Message<String> receive() {
        Delivery delivery = ListenerRig.delivery();
        deliveries.begin(List.of(delivery));
        return new ReceivedMessage(delivery, null, "", "body").attachTo(ListenerRig.message(Map.of()), Map.of());
    }

    private void stopListenerOf(Message<String> message) {
        deliveries
                .stop(ReceivedMessage.require(message).delivery().subscription())
                .begin();
    }

    @Test
    void returnedMessageIsLeftOut() {
        Message<String> returned = receive();
        Message<String> other = receive();
        stopListenerOf(returned);

        assertThat(pipeline.process(returned, context)).isCompleted();
        assertThat(pipeline.process(other, context)).isCompleted();

        assertThat(processed).containsExactly(other);
    }

    @Test
    void batchIsLeftOutOnlyIfAllOfItWasReturnedForItsRestMustNotOvertake() {
        Message<String> returned = receive();
        Message<String> other = receive();
        stopListenerOf(returned);

        assertThat(pipeline.process(List.of(returned, other), context)).isCompleted();
        assertThat(pipeline.process(List.of(returned), context)).isCompleted();

        assertThat(processed).containsExactly(returned, other);
    }
}
