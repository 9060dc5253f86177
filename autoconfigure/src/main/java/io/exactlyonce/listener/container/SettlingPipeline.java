package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.permits.PermitSinks;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
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

    private static final String SETTLING = "Settling messages";

    private final MessageProcessingPipeline<T> pipeline;
    private final ListenerEngine engine;

    SettlingPipeline(MessageProcessingPipeline<T> pipeline, ListenerEngine engine) {
        this.pipeline = pipeline;
        this.engine = engine;
    }

    @Override
    public CompletableFuture<Message<T>> process(Message<T> message, MessageProcessingContext<T> context) {
        return process(List.of(message), message, context, admitted -> pipeline.process(message, context));
    }

    @Override
    public CompletableFuture<Collection<Message<T>>> process(
            Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        return process(messages, messages, context, admitted -> pipeline.process(admitted, context));
    }

    private <R> CompletableFuture<R> process(
            Collection<Message<T>> messages,
            R unhandled,
            MessageProcessingContext<T> context,
            Function<List<Message<T>>, CompletableFuture<R>> handling) {
        if (messages.stream().allMatch(SettlingPipeline::isHeldBack)) {
            return CompletableFuture.completedFuture(unhandled);
        }
        CompletableFuture<R> processed = new CompletableFuture<>();
        Boundary.guard(
                "A handler's thread",
                () -> {
                    var unused = PermitSinks.begin(() -> begin(messages, unhandled, handling))
                            .whenComplete((done, failure) -> {
                                // Before its permit is free: a listener that stops waits for what is on its way to the
                                // record.
                                finish(messages, context);
                                end(processed, done, failure);
                            });
                },
                crash -> {
                    engine.deliveries().abandon(deliveries(messages));
                    processed.completeExceptionally(crash);
                });
        return processed;
    }

    private <R> CompletableFuture<R> begin(
            Collection<Message<T>> messages, R unhandled, Function<List<Message<T>>, CompletableFuture<R>> handling) {
        List<Message<T>> admitted = admitted(messages);
        return admitted.isEmpty() ? CompletableFuture.completedFuture(unhandled) : handling.apply(admitted);
    }

    private static <R> void end(CompletableFuture<R> processed, R done, @Nullable Throwable failure) {
        if (failure == null) {
            processed.complete(done);
        } else {
            processed.completeExceptionally(failure);
        }
    }

    private void finish(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        CompletableFuture<Void> settled = finish(messages, context, engine, engine.deliveries()::settle);
        Boundary.guard(
                "A handler's end",
                () -> ReceivedMessage.among(messages)
                        .findFirst()
                        .ifPresent(received -> received.origin().recording(settled)));
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

    static List<Delivery> deliveries(Collection<? extends Message<?>> messages) {
        return ReceivedMessage.among(messages).map(ReceivedMessage::delivery).toList();
    }

    /**
     * Gives back what was claimed and did not come to its handler, and settles messages as soon as how they ended is on record.
     * Those to be deleted are deleted together. Does nothing to messages that are settled.
     *
     * @param settling returns whether a message is to be deleted; depends on whether its listener is stopping
     * @return completes, and never fails, when that is done
     */
    static <T> CompletableFuture<Void> finish(
            Collection<Message<T>> messages,
            MessageProcessingContext<T> context,
            ListenerEngine engine,
            Predicate<Delivery> settling) {
        CompletableFuture<Void> settled = new CompletableFuture<>();
        List<Delivery> deliveries = deliveries(messages);
        Consumer<Throwable> crashed = crash -> {
            engine.deliveries().abandon(deliveries);
            settled.complete(null);
        };
        Boundary.guard(
                SETTLING,
                () -> {
                    engine.pipeline().withdraw(attempts(messages));
                    var unused = CompletableFuture.allOf(
                                    deliveries.stream().map(Delivery::left).toArray(CompletableFuture[]::new))
                            .thenRun(() -> Boundary.guard(
                                    SETTLING,
                                    () -> {
                                        settle(messages, context, settling);
                                        settled.complete(null);
                                    },
                                    crashed));
                },
                crashed);
        return settled;
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
