package io.exactlyonce.listener.permits;

import io.awspring.cloud.sqs.listener.ListenerMode;
import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.sink.BatchMessageSink;
import io.awspring.cloud.sqs.listener.sink.FanOutMessageSink;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.springframework.messaging.Message;

/**
 * Awspring's sinks, which give back the permits of messages for which their executor has no thread. Awspring's own keep them then:
 * a listener that has lost all of them polls no more.
 */
public final class PermitSinks {

    private PermitSinks() {}

    /** Returns a sink that hands over each message by itself, or all together. */
    public static <T> MessageSink<T> of(ListenerMode mode) {
        return mode == ListenerMode.SINGLE_MESSAGE ? new EachMessage<>() : batches();
    }

    /** Returns a sink that hands messages over together. */
    public static <T> MessageSink<T> batches() {
        return new Batches<>();
    }

    /**
     * Hands messages over to an executor.
     *
     * @param messages how many, each of which has a permit
     * @param execution throws, or fails, if there is no thread for them
     * @return completes when each has given its permit back
     */
    public static <T> CompletableFuture<Void> execute(
            int messages,
            MessageProcessingContext<T> context,
            Function<MessageProcessingContext<T>, CompletableFuture<Void>> execution) {
        AtomicInteger held = new AtomicInteger(messages);
        Runnable release = () -> {
            if (held.getAndDecrement() > 0) {
                context.runBackPressureReleaseCallback();
            }
        };
        return begin(context.setBackPressureReleaseCallback(release), execution).whenComplete((done, failure) -> {
            while (held.get() > 0) {
                release.run();
            }
        });
    }

    private static <T> CompletableFuture<Void> begin(
            MessageProcessingContext<T> context,
            Function<MessageProcessingContext<T>, CompletableFuture<Void>> execution) {
        try {
            return execution.apply(context);
        } catch (Throwable refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    private static final class EachMessage<T> extends FanOutMessageSink<T> {

        @Override
        protected CompletableFuture<Void> execute(Message<T> message, MessageProcessingContext<T> context) {
            return PermitSinks.execute(1, context, counted -> super.execute(message, counted));
        }
    }

    private static final class Batches<T> extends BatchMessageSink<T> {

        @Override
        protected CompletableFuture<Void> execute(
                Collection<Message<T>> messages, MessageProcessingContext<T> context) {
            return PermitSinks.execute(messages.size(), context, counted -> super.execute(messages, counted));
        }
    }
}
