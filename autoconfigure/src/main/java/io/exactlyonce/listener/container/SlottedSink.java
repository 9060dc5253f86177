package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.exactlyonce.listener.permits.HandlerSlots;
import io.exactlyonce.listener.permits.PermitSinks;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.springframework.messaging.Message;

/** The messages of a poll on their way to their handlers' slots, and their permits on the way back. */
final class SlottedSink<T> {

    private final MessageSink<T> sink;
    private final HandlerSlots slots;
    private final MessageProcessingContext<T> context;
    private final boolean isBatch;
    private final Consumer<Collection<Message<T>>> abandon;

    /** @param abandon called with messages that are handed over while that crashes */
    SlottedSink(
            MessageSink<T> sink,
            HandlerSlots slots,
            MessageProcessingContext<T> context,
            boolean isBatch,
            Consumer<Collection<Message<T>>> abandon) {
        this.sink = sink;
        this.slots = slots;
        this.context = context;
        this.isBatch = isBatch;
        this.abandon = abandon;
    }

    /** They hold a permit each. */
    void arrive(int messages) {
        release(slots.arrive(messages));
    }

    /** They leave without a handler. */
    void leave(int messages) {
        for (int left = 0; left < messages; left++) {
            release(slots.leave() ? 1 : 0);
        }
    }

    /** Hands each over when there is a slot for it, those of a batch together; completes when they have left their handlers. */
    CompletableFuture<Void> emit(Collection<Message<T>> messages) {
        if (messages.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        return isBatch
                ? emitTogether(messages)
                : CompletableFuture.allOf(messages.stream()
                        .map(message -> emitTogether(List.of(message)))
                        .toArray(CompletableFuture[]::new));
    }

    /** What awspring's sink drops, or finds no thread for, leaves as well: it does not tell of those. */
    private CompletableFuture<Void> emitTogether(Collection<Message<T>> messages) {
        return slots.take(messages.size())
                .thenCompose(begunAt -> PermitSinks.execute(
                        messages.size(),
                        context.setBackPressureReleaseCallback(() -> release(slots.end(begunAt) ? 1 : 0)),
                        counted -> sink.emit(messages, counted),
                        () -> abandon.accept(messages)));
    }

    private void release(int permits) {
        for (int released = 0; released < permits; released++) {
            context.runBackPressureReleaseCallback();
        }
    }
}
