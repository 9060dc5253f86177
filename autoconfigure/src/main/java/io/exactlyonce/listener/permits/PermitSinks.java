package io.exactlyonce.listener.permits;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.sink.BatchMessageSink;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.exactlyonce.boundary.Boundary;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;

/**
 * Awspring's sinks, which give back the permits of messages for which their executor has no thread. Awspring's own keep them then:
 * a listener that has lost all of them polls no more.
 */
public final class PermitSinks {

    private PermitSinks() {}

    /** Returns a sink that hands messages over together. */
    public static <T> MessageSink<T> batches(Consumer<Collection<Message<T>>> abandon) {
        return new Batches<>(abandon);
    }

    /**
     * Hands messages over to an executor.
     *
     * @param messages how many, each of which has a permit
     * @param execution throws, or fails, if there is no thread for them
     * @param abandon called if it crashes
     * @return completes when each has given its permit back
     */
    public static <T> CompletableFuture<Void> execute(
            int messages,
            MessageProcessingContext<T> context,
            Function<MessageProcessingContext<T>, CompletableFuture<Void>> execution,
            Runnable abandon) {
        AtomicInteger held = new AtomicInteger(messages);
        Runnable release = () -> {
            if (held.getAndDecrement() > 0) {
                context.runBackPressureReleaseCallback();
            }
        };
        CompletableFuture<Void> executed = new CompletableFuture<>();
        Boundary.guard(
                "Handing messages over",
                () -> {
                    var unused = begin(() -> execution.apply(context.setBackPressureReleaseCallback(release)))
                            .whenComplete((done, failure) -> end(held, release, executed, failure));
                },
                crash -> {
                    abandon.run();
                    end(held, release, executed, null);
                });
        return executed;
    }

    /** Returns what is begun, or what failed to begin, as an executor that has no thread for it does. */
    public static <R> CompletableFuture<R> begin(Supplier<CompletableFuture<R>> step) {
        try {
            return step.get();
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    private static void end(
            AtomicInteger held, Runnable release, CompletableFuture<Void> executed, @Nullable Throwable failure) {
        while (held.get() > 0) {
            release.run();
        }
        if (failure == null) {
            executed.complete(null);
        } else {
            executed.completeExceptionally(failure);
        }
    }

    private static final class Batches<T> extends BatchMessageSink<T> {

        private final Consumer<Collection<Message<T>>> abandon;

        Batches(Consumer<Collection<Message<T>>> abandon) {
            this.abandon = abandon;
        }

        @Override
        protected CompletableFuture<Void> execute(
                Collection<Message<T>> messages, MessageProcessingContext<T> context) {
            return PermitSinks.execute(
                    messages.size(),
                    context,
                    counted -> super.execute(messages, counted),
                    () -> abandon.accept(messages));
        }
    }
}
