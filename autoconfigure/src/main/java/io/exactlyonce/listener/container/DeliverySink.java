package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.listener.sink.adapter.AbstractDelegatingMessageListeningSinkAdapter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.listener.message.MessageOrigin;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.permits.HandlerSlots;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.springframework.messaging.Message;

/**
 * Begins deliveries before any handler has a thread for them: from here on they are renewed, and their keys are claimed, all of a
 * poll in one call, where that is done ahead. What acquires its key goes on; the rest is settled, takes no thread and gives its
 * permit back. Whatever the pipeline leaves is settled as well: a sink that is stopping takes no message, and an interceptor
 * that throws keeps one from its last stage.
 *
 * <p>Of a FIFO group only the first message of a poll is claimed ahead, and goes on whatever the answer was: the rest of its group
 * depends on it. Batches of FIFO queues are claimed when their thread is there.
 */
final class DeliverySink<T> extends AbstractDelegatingMessageListeningSinkAdapter<T> {

    private final ListenerEngine engine;
    private final ContainerSettings settings;
    private final boolean isFifo;

    private DeliverySink(MessageSink<T> delegate, ListenerEngine engine, ContainerSettings settings, boolean isFifo) {
        super(delegate);
        this.engine = engine;
        this.settings = settings;
        this.isFifo = isFifo;
    }

    static <T> DeliverySink<T> ofStandardQueue(
            MessageSink<T> delegate, ListenerEngine engine, ContainerSettings settings) {
        return new DeliverySink<>(delegate, engine, settings, false);
    }

    static <T> DeliverySink<T> ofFifoQueue(MessageSink<T> delegate, ListenerEngine engine, ContainerSettings settings) {
        return new DeliverySink<>(delegate, engine, settings, true);
    }

    @Override
    public void setMessagePipeline(MessageProcessingPipeline<T> pipeline) {
        super.setMessagePipeline(new SettlingPipeline<>(pipeline, engine));
    }

    @Override
    public CompletableFuture<Void> emit(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        try {
            return claimAndEmit(messages, context).whenComplete((done, failure) -> {
                var unused = SettlingPipeline.finish(messages, context, engine, this::settle);
            });
        } catch (RuntimeException | Error failure) {
            var unused = SettlingPipeline.finish(messages, context, engine, this::settle);
            throw failure;
        }
    }

    private CompletableFuture<Void> claimAndEmit(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        Optional<CompletableFuture<Void>> claiming;
        try {
            engine.deliveries()
                    .begin(messages.stream()
                            .flatMap(message -> delivery(message, context).stream())
                            .toList());
            claiming = claimEarly(messages);
        } catch (Throwable failure) {
            // None has gone on, so that each still has its permit.
            messages.forEach(message -> context.runBackPressureReleaseCallback());
            throw failure;
        }
        if (claiming.isEmpty()) {
            return getDelegate().emit(messages, context);
        }
        CompletableFuture<Void> claimed = claiming.get();
        // Whatever became of the claims: who has none goes no further.
        return isFifo
                ? claimed.handle((done, failure) -> null)
                        .thenCompose(done -> getDelegate().emit(messages, context))
                : emitWhen(claimed, messages, context);
    }

    /** Claims what is claimed before there are threads, if anything is. */
    private Optional<CompletableFuture<Void>> claimEarly(Collection<Message<T>> messages) {
        for (Message<T> message : messages) {
            ReceivedMessage.of(message).ifPresent(received -> received.attempt(settings.attempt(message)));
        }
        List<Message<T>> early = settings.claimsAhead() ? early(messages) : List.of();
        return early.isEmpty()
                ? Optional.empty()
                : Optional.of(engine.pipeline().claimAhead(SettlingPipeline.attempts(early)));
    }

    /** The next poll need neither wait for these claims nor for the last handler of this one. */
    private CompletableFuture<Void> emitWhen(
            CompletableFuture<Void> claimed, Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        SlottedSink<T> slotted = new SlottedSink<>(getDelegate(), slots(messages), context, settings.isBatch());
        slotted.arrive(messages.size());
        return claimed.handle((done, failure) -> goOn(messages, context, slotted))
                .thenCompose(slotted::emit);
    }

    private static HandlerSlots slots(Collection<? extends Message<?>> messages) {
        return ReceivedMessage.among(messages)
                .findFirst()
                .map(ReceivedMessage::origin)
                .orElse(MessageOrigin.UNKNOWN)
                .slots();
    }

    private List<Message<T>> early(Collection<Message<T>> messages) {
        if (!isFifo) {
            return List.copyOf(messages);
        }
        Set<String> groups = new HashSet<>();
        return settings.isBatch()
                ? List.of()
                : messages.stream()
                        .filter(message -> groups.add(ReceivedMessage.groupOf(message)))
                        .toList();
    }

    /** The rest leaves; all of them, if it cannot be found out which that is, as when memory is used up. */
    private Collection<Message<T>> goOn(
            Collection<Message<T>> messages, MessageProcessingContext<T> context, SlottedSink<T> slotted) {
        Collection<Message<T>> goOn = List.of();
        try {
            goOn = admitted(messages, context);
            return goOn;
        } finally {
            slotted.leave(messages.size() - goOn.size());
        }
    }

    /** Settles the rest at once. */
    private Collection<Message<T>> admitted(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        Map<Boolean, List<Attempt>> unanswered =
                SettlingPipeline.attempts(messages).stream().collect(Collectors.partitioningBy(Attempt::isToBeClaimed));
        List<Attempt> admitted =
                new ArrayList<>(engine.pipeline().admit(Objects.requireNonNull(unanswered.get(false))));
        admitted.addAll(Objects.requireNonNull(unanswered.get(true)));
        Map<Boolean, List<Message<T>>> goOn = messages.stream()
                .collect(Collectors.partitioningBy(message -> SettlingPipeline.isAmong(admitted, message)));
        List<Message<T>> rest = Objects.requireNonNull(goOn.get(false));
        if (!rest.isEmpty()) {
            var unused = SettlingPipeline.finish(rest, context, engine, this::settle);
        }
        return Objects.requireNonNull(goOn.get(true));
    }

    /** A delivery that waits for another's claim is deleted long after its pipeline has ended. */
    private static <T> Optional<Delivery> delivery(Message<T> message, MessageProcessingContext<T> context) {
        Optional<Delivery> delivery = ReceivedMessage.of(message).map(ReceivedMessage::delivery);
        delivery.ifPresent(begun -> begun.deleteBy(() -> {
            var unused = context.getAcknowledgmentCallback().onAcknowledge(message);
        }));
        return delivery;
    }

    /** Without backoff, a message that the pipeline always drops would come again and again at once. */
    private boolean settle(Delivery delivery) {
        return isRunning()
                ? engine.deliveries().settle(delivery)
                : engine.deliveries().settleWhileStopping(delivery);
    }
}
