package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.listener.sink.adapter.AbstractDelegatingMessageListeningSinkAdapter;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.permits.HandlerSlots;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.messaging.Message;

/**
 * Begins deliveries before any handler has a thread for them: from here on they are renewed, and their keys are claimed, all of a
 * poll in one call, where that is done ahead. What acquires its key goes on; the rest is settled, takes no thread and gives its
 * permit back. Whatever the pipeline leaves is settled as well: a sink that is stopping takes no message, and an interceptor
 * that throws keeps one from its last stage.
 *
 * <p>Nothing of a FIFO queue is claimed ahead: of a group, each message depends on the one before it.
 */
final class DeliverySink<T> extends AbstractDelegatingMessageListeningSinkAdapter<T> {

    private static final String ENTRY = "A poll's messages";

    private final ListenerEngine engine;
    private final ContainerSettings settings;
    private final boolean isFifo;

    DeliverySink(MessageSink<T> delegate, ListenerEngine engine, ContainerSettings settings, boolean isFifo) {
        super(delegate);
        this.engine = engine;
        this.settings = settings;
        this.isFifo = isFifo;
    }

    @Override
    public void setMessagePipeline(MessageProcessingPipeline<T> pipeline) {
        super.setMessagePipeline(new SettlingPipeline<>(pipeline, engine));
    }

    @Override
    public CompletableFuture<Void> emit(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        CompletableFuture<Void> emitted = isFifo ? emitInOrder(messages, context) : emitToSlots(messages, context);
        return emitted.whenComplete((done, failure) -> {
            var unused = SettlingPipeline.finish(messages, context, engine, this::settle);
        });
    }

    /** The permits are the group's to give back: after a wait it takes one again. */
    private CompletableFuture<Void> emitInOrder(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        List<Message<T>> begun = new ArrayList<>();
        Boundary.guard(
                ENTRY,
                () -> {
                    begin(messages, context);
                    begun.addAll(messages);
                },
                crash -> {
                    abandon(messages);
                    messages.forEach(message -> context.runBackPressureReleaseCallback());
                });
        return begun.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : getDelegate().emit(begun, context);
    }

    /** The next poll need neither wait for these claims nor for the last handler of this one. */
    private CompletableFuture<Void> emitToSlots(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        SlottedSink<T> slotted =
                new SlottedSink<>(getDelegate(), slots(messages), context, settings.isBatch(), this::abandon);
        slotted.arrive(messages.size());
        CompletableFuture<Void> claimed = new CompletableFuture<>();
        Boundary.guard(
                ENTRY,
                () -> {
                    begin(messages, context);
                    // Whatever became of the claims: what has none goes no further.
                    var unused = claimAhead(messages).whenComplete((done, failure) -> claimed.complete(null));
                },
                crash -> {
                    abandon(messages);
                    claimed.completeExceptionally(crash);
                });
        return claimed.handle(
                        (done, crash) -> goOn(crash == null ? messages : List.of(), messages.size(), context, slotted))
                .thenCompose(slotted::emit);
    }

    private void begin(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        List<Delivery> deliveries = SettlingPipeline.deliveries(messages);
        for (Message<T> message : messages) {
            ReceivedMessage.require(message).delivery().deleteBy(() -> {
                var unused = context.getAcknowledgmentCallback().onAcknowledge(message);
            });
        }
        engine.deliveries().begin(deliveries);
        messages.forEach(this::attempt);
    }

    /** A key that crashes costs no other message its receive, but the later ones of its group must not overtake it. */
    private void attempt(Message<T> message) {
        ReceivedMessage received = ReceivedMessage.require(message);
        Delivery delivery = received.delivery();
        Boundary.guard(
                "The key of message " + delivery.messageId(),
                () -> received.attempt(settings.attempt(message)),
                crash -> {
                    received.attempt(Attempt.ofBatch(delivery, received.group(), null));
                    engine.deliveries().abandon(List.of(delivery));
                });
    }

    private CompletableFuture<Void> claimAhead(Collection<Message<T>> messages) {
        return settings.claimsAhead()
                ? engine.pipeline().claimAhead(SettlingPipeline.attempts(messages))
                : CompletableFuture.completedFuture(null);
    }

    private HandlerSlots slots(Collection<Message<T>> messages) {
        return ReceivedMessage.require(messages.iterator().next()).origin().slots();
    }

    /** The rest leaves. */
    private Collection<Message<T>> goOn(
            Collection<Message<T>> messages, int arrived, MessageProcessingContext<T> context, SlottedSink<T> slotted) {
        List<Message<T>> goOn = new ArrayList<>();
        Boundary.guard(
                ENTRY,
                () -> goOn.addAll(settings.claimsAhead() ? admitted(messages, context) : messages),
                crash -> abandon(messages));
        slotted.leave(arrived - goOn.size());
        return goOn;
    }

    /** Settles the rest at once. */
    private List<Message<T>> admitted(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        List<Attempt> unanswered = new ArrayList<>();
        List<Attempt> answered = new ArrayList<>();
        for (Attempt attempt : SettlingPipeline.attempts(messages)) {
            (attempt.isToBeClaimed() ? unanswered : answered).add(attempt);
        }
        List<Attempt> attempts = new ArrayList<>(engine.pipeline().admit(answered));
        attempts.addAll(unanswered);
        List<Message<T>> admitted = new ArrayList<>();
        List<Message<T>> rest = new ArrayList<>();
        for (Message<T> message : messages) {
            (SettlingPipeline.isAmong(attempts, message) ? admitted : rest).add(message);
        }
        if (!rest.isEmpty()) {
            var unused = SettlingPipeline.finish(rest, context, engine, this::settle);
        }
        return admitted;
    }

    private void abandon(Collection<Message<T>> messages) {
        engine.deliveries().abandon(SettlingPipeline.deliveries(messages));
    }

    /** Without backoff, a message that the pipeline always drops would come again and again at once. */
    private boolean settle(Delivery delivery) {
        return isRunning()
                ? engine.deliveries().settle(delivery)
                : engine.deliveries().settleWhileStopping(delivery);
    }
}
