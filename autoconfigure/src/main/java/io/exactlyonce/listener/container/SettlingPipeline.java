package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.springframework.messaging.Message;

/**
 * The container's own pipeline, with what comes before and after it.
 *
 * <p>Before: messages that a stopping listener has returned before there was a thread for them are left out. No interceptor,
 * no handler and no error handler sees them, and their permits are free at once. A batch is left out as a whole or not at all: a
 * message that was returned has to stop the later ones of its group, also ones that the listener's stop has not come to yet. The
 * handler sees none of them. What was not claimed with its poll is claimed now, on the thread that is there for it; and whatever is
 * not held goes no further.
 *
 * <p>After: what was decided is done as soon as how the handler ended is on record, whether the pipeline succeeded or not. A
 * user's error handler may turn a failure into a success; that acknowledges nothing. Each message of a batch has an end of its
 * own. The pipeline, its thread and its permit do not wait for that.
 */
final class SettlingPipeline<T> implements MessageProcessingPipeline<T> {

    private final MessageProcessingPipeline<T> pipeline;
    private final ListenerEngine engine;

    SettlingPipeline(MessageProcessingPipeline<T> pipeline, ListenerEngine engine) {
        this.pipeline = pipeline;
        this.engine = engine;
    }

    @Override
    public CompletableFuture<Message<T>> process(Message<T> message, MessageProcessingContext<T> context) {
        if (isHeldBack(message)) {
            return CompletableFuture.completedFuture(message);
        }
        return finishing(
                List.of(message),
                context,
                () -> admitted(List.of(message)).isEmpty()
                        ? CompletableFuture.completedFuture(message)
                        : pipeline.process(message, context));
    }

    @Override
    public CompletableFuture<Collection<Message<T>>> process(
            Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        if (messages.stream().allMatch(SettlingPipeline::isHeldBack)) {
            return CompletableFuture.completedFuture(messages);
        }
        return finishing(messages, context, () -> {
            List<Message<T>> admitted = admitted(messages);
            return admitted.isEmpty()
                    ? CompletableFuture.completedFuture(messages)
                    : pipeline.process(admitted, context);
        });
    }

    private <R> CompletableFuture<R> finishing(
            Collection<Message<T>> messages,
            MessageProcessingContext<T> context,
            Supplier<CompletableFuture<R>> processing) {
        try {
            return processing.get().whenComplete((done, failure) -> finish(messages, context));
        } catch (RuntimeException failure) {
            finish(messages, context);
            throw failure;
        }
    }

    private void finish(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        CompletableFuture<Void> settled = finish(messages, context, engine, engine.deliveries()::settle);
        ReceivedMessage.among(messages)
                .findFirst()
                .ifPresent(received -> received.origin().recording(settled));
    }

    /** Claims, on this thread, what has not been claimed ahead; returns those that may be handled. */
    private List<Message<T>> admitted(Collection<Message<T>> messages) {
        List<Attempt> attempts = attempts(messages);
        if (attempts.stream().anyMatch(Attempt::isTransactional)) {
            return List.copyOf(messages);
        }
        ClaimWriter.await(engine.pipeline().claim(attempts));
        List<Attempt> admitted = engine.pipeline().admit(attempts);
        if (admitted.size() == messages.size()) {
            return List.copyOf(messages);
        }
        return messages.stream().filter(message -> isAmong(admitted, message)).toList();
    }

    /** By the attempt's identity: to compare messages is to compare all of their headers. */
    static boolean isAmong(List<Attempt> attempts, Message<?> message) {
        return ReceivedMessage.of(message)
                .flatMap(ReceivedMessage::attempt)
                .filter(attempts::contains)
                .isPresent();
    }

    static List<Attempt> attempts(Collection<? extends Message<?>> messages) {
        return ReceivedMessage.among(messages)
                .flatMap(received -> received.attempt().stream())
                .toList();
    }

    /**
     * Gives back what was claimed and did not come to its handler, and settles messages as soon as how they ended is on record.
     * Those to be deleted are deleted together. Does nothing to messages that are settled.
     *
     * @param settling returns whether a message is to be deleted; depends on whether its listener is stopping
     */
    static <T> CompletableFuture<Void> finish(
            Collection<Message<T>> messages,
            MessageProcessingContext<T> context,
            ListenerEngine engine,
            Predicate<Delivery> settling) {
        engine.pipeline().withdraw(attempts(messages));
        return CompletableFuture.allOf(ReceivedMessage.among(messages)
                        .map(received -> received.delivery().left())
                        .toArray(CompletableFuture[]::new))
                .thenRun(() -> settle(messages, context, settling));
    }

    private static <T> void settle(
            Collection<Message<T>> messages, MessageProcessingContext<T> context, Predicate<Delivery> settling) {
        List<Message<T>> deleted = messages.stream()
                .filter(message -> ReceivedMessage.of(message)
                        .map(ReceivedMessage::delivery)
                        .filter(settling)
                        .isPresent())
                .toList();
        if (deleted.size() == 1) {
            var unused = context.getAcknowledgmentCallback().onAcknowledge(deleted.get(0));
        } else if (!deleted.isEmpty()) {
            var unused = context.getAcknowledgmentCallback().onAcknowledge(deleted);
        }
    }

    private static boolean isHeldBack(Message<?> message) {
        return ReceivedMessage.of(message)
                .filter(received -> received.delivery().isHeldBack())
                .isPresent();
    }
}
