package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
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

/** What is deleted when the container's own pipeline has ended in one way or the other. */
class SettledMessagesTests {

    private final ScriptedStore store = new ScriptedStore();
    private final FakeClock clock = new FakeClock();
    private final DeliveryObserver noObserver = new DeliveryObserver() {};
    private final Deliveries deliveries = new Deliveries(
            new RenewalSupervisor(store, new RenewalSchedule(0.5, 0, 3), noObserver, Runnable::run, clock, () -> 0),
            noObserver,
            new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5)),
            clock,
            () -> 0,
            10);
    private final ListenerEngine engine = ListenerRig.engine(deliveries, store, Runnable::run);
    private final List<Message<String>> acknowledged = new ArrayList<>();
    private final MessageProcessingContext<String> context = ListenerRig.acknowledgingTo(acknowledged);
    private final Message<String> message = receive("A-1");

    private Message<String> receive(String key) {
        Delivery delivery = ListenerRig.delivery();
        deliveries.begin(List.of(delivery));
        ReceivedMessage received = new ReceivedMessage(delivery, null, "", "body", UnknownOrigin.INSTANCE);
        received.attempt(
                Attempt.single(delivery, new ClaimSpec(new ClaimKey("orders", key), null, InDoubtPolicy.RERUN)));
        return received.attachTo(ListenerRig.message(Map.of()), Map.of());
    }

    @Test
    void completedDeliveryIsAcknowledgedOnce() {
        SettlingPipeline<String> pipeline = pipeline(List.of(message), CompletableFuture.completedFuture(null));

        assertThat(pipeline.process(message, context)).isCompleted();
        assertThat(pipeline.process(message, context)).isCompleted();

        assertThat(acknowledged).containsExactly(message);
    }

    /** An interceptor may fail after the handler; the effect is on record nevertheless. */
    @Test
    void completedDeliveryIsAcknowledgedAlthoughItsPipelineFailed() {
        CompletableFuture<Object> failed = CompletableFuture.failedFuture(new IllegalStateException());

        assertThat(pipeline(List.of(message), failed).process(message, context)).isCompletedExceptionally();

        assertThat(acknowledged).containsExactly(message);
    }

    @Test
    void pipelineThatSucceededWithoutACompletionAcknowledgesNothing() {
        store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(10)));

        assertThat(pipeline(List.of(message), CompletableFuture.completedFuture(null))
                        .process(message, context))
                .isCompleted();

        assertThat(acknowledged).isEmpty();
        assertThat(delivery(message).state()).isEqualTo(DeliveryState.WAITING);
    }

    @Test
    void errorHandlerThatHidesAFailureAcknowledgesNothing() {
        assertThat(pipeline(List.of(), CompletableFuture.completedFuture(null)).process(message, context))
                .isCompleted();

        assertThat(acknowledged).isEmpty();
        assertThat(delivery(message).state()).isEqualTo(DeliveryState.RETURNED);
    }

    @Test
    void ofABatchWhatIsCompletedIsAcknowledgedHoweverThePipelineEnded() {
        Message<String> other = receive("A-2");
        CompletableFuture<Object> failed = CompletableFuture.failedFuture(new IllegalStateException());

        assertThat(pipeline(List.of(message), failed).process(List.of(other, message), context))
                .isCompletedExceptionally();
        assertThat(pipeline(List.of(), CompletableFuture.completedFuture(null))
                        .process(List.of(other, message), context))
                .isCompleted();

        assertThat(acknowledged).containsExactly(message);
        assertThat(delivery(other).state()).isEqualTo(DeliveryState.RETURNED);
    }

    @Test
    void messageWithoutADeliveryIsNotAcknowledged() {
        Message<String> unknown = ListenerRig.message(Map.of());

        assertThat(pipeline(List.of(), CompletableFuture.completedFuture(null)).process(unknown, context))
                .isCompleted();

        assertThat(acknowledged).isEmpty();
    }

    /** A pipeline whose listener handles these messages, and which ends in this way. */
    private SettlingPipeline<String> pipeline(List<Message<String>> handled, CompletableFuture<Object> end) {
        return new SettlingPipeline<>(
                new MessageProcessingPipeline<>() {
                    @Override
                    public CompletableFuture<Message<String>> process(
                            Message<String> one, MessageProcessingContext<String> unused) {
                        handle(handled);
                        return end.thenApply(done -> one);
                    }

                    @Override
                    public CompletableFuture<Collection<Message<String>>> process(
                            Collection<Message<String>> several, MessageProcessingContext<String> unused) {
                        handle(handled);
                        return end.thenApply(done -> several);
                    }
                },
                engine);
    }

    private void handle(List<Message<String>> handled) {
        for (Message<String> each : handled) {
            try {
                var unused = engine.pipeline()
                        .process(
                                SettlingPipeline.attempts(List.of(each)),
                                claimed -> CompletableFuture.completedFuture(null));
            } catch (Throwable failure) {
                throw new AssertionError(failure);
            }
        }
    }

    private static Delivery delivery(Message<?> message) {
        return ReceivedMessage.require(message).delivery();
    }
}
