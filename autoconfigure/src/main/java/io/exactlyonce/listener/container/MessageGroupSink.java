package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.CompletableFutures;
import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.sink.OrderedMessageSink;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.MessageOrigin;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.permits.PermitSinks;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.messaging.Message;

/**
 * Handles the messages of one group in their order. The first one that stays in the queue, whatever the reason, stops the
 * rest of the group: they are made visible again at once. SQS hands out nothing of a group while any of its messages is in
 * flight, so that the order holds however long the stopped one stays away.
 *
 * <p>One that failed on its last receive does not stay: its queue moves it to the dead-letter queue instead of handing it
 * out again. The rest, which has been received as often, would go with it if it did not go on now. Since the redrive policy
 * may have been changed, it is read again first; where that fails, the rest is stopped: order comes first.
 *
 * <p>One that waits on its last receive keeps the rest, invisible, without a thread and without a permit, until its wait is
 * over; then they go on for the same reason.
 */
final class MessageGroupSink<T> extends OrderedMessageSink<T> {

    private static final Logger log = LoggerFactory.getLogger(MessageGroupSink.class);

    private static final CompletableFuture<Void> NOTHING_LEFT = CompletableFuture.completedFuture(null);

    private final ListenerEngine engine;
    private final Executor continuations;

    /**
     * @param continuations hand the next message of a group to the container's executor: what the one before it waited for, the
     *     store or the queue, has been answered on a thread that may neither handle it nor wait for a thread that does
     */
    MessageGroupSink(ListenerEngine engine, Executor continuations) {
        this.engine = engine;
        this.continuations = continuations;
    }

    @Override
    // What is not settled at the end has not begun.
    public CompletableFuture<Void> emit(Collection<Message<T>> group, MessageProcessingContext<T> context) {
        return super.emit(group, context).whenComplete((done, failure) -> {
            var unused = SettlingPipeline.finish(group, context, engine, engine.deliveries()::settleWhileStopping);
        });
    }

    @Override
    protected CompletableFuture<Void> doEmit(Collection<Message<T>> group, MessageProcessingContext<T> context) {
        return group.isEmpty() ? NOTHING_LEFT : handle(List.copyOf(group), new Permits<>(context, false));
    }

    private CompletableFuture<Void> handle(List<Message<T>> group, Permits<T> permits) {
        List<Message<T>> rest = group.subList(1, group.size());
        return run(group.get(0), permits.ofHead(), head -> {
            if (head.waits()) {
                // In this order: a listener that stops meanwhile finds a permit taken at any time.
                CompletableFuture<Void> goneOn = waitBehind(head, rest, permits.context());
                permits.releaseThoseOf(rest);
                return goneOn;
            }
            return head.leaves(head.seemsGone()).thenCompose(leaves -> goOn(leaves, rest, permits));
        });
    }

    /** None of these has a permit; they take one back when their turn comes. */
    private CompletableFuture<Void> waitBehind(Head head, List<Message<T>> rest, MessageProcessingContext<T> context) {
        if (rest.isEmpty()) {
            return NOTHING_LEFT;
        }
        // The permit first: a listener that stops ends the wait, and then waits for permits that are taken.
        return head.gone()
                .thenCompose(gone -> ReceivedMessage.originOf(rest.get(0))
                        .takePermitBack()
                        .thenCompose(taken -> head.leaves(gone))
                        .thenCompose(leaves -> goOn(leaves, rest, new Permits<>(context, true))));
    }

    private CompletableFuture<Void> goOn(boolean leaves, List<Message<T>> rest, Permits<T> permits) {
        if (!leaves || rest.isEmpty()) {
            permits.releaseThoseOf(rest);
            return NOTHING_LEFT;
        }
        CompletableFuture<Void> thread = new CompletableFuture<>();
        CompletableFuture<Void> handled = thread.thenCompose(begun -> handle(rest, permits));
        try {
            continuations.execute(() -> thread.complete(null));
            return handled;
        } catch (Throwable noThread) {
            permits.releaseThoseOf(rest);
            return CompletableFuture.failedFuture(noThread);
        }
    }

    /** The next message begins only when how this one ended is on record: after a crash in between, it would have overtaken it. */
    private CompletableFuture<Void> run(
            Message<T> message, MessageProcessingContext<T> context, Function<Head, CompletableFuture<Void>> then) {
        return CompletableFutures.handleCompose(execute(message, context), (done, failure) -> {
            if (failure != null) {
                logError(failure, message);
            }
            return settle(message, context)
                    .exceptionally(unsettled -> {
                        // The rest has permits to give back, whatever became of this one.
                        logError(unsettled, message);
                        return null;
                    })
                    .thenCompose(settled -> then.apply(new Head(
                            ReceivedMessage.of(message).map(ReceivedMessage::delivery),
                            ReceivedMessage.originOf(message))));
        });
    }

    private CompletableFuture<Void> settle(Message<T> message, MessageProcessingContext<T> context) {
        try {
            return SettlingPipeline.finish(List.of(message), context, engine, engine.deliveries()::settle);
        } catch (Throwable failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    /** One for which there is no thread stops its group like one that failed. */
    @Override
    protected CompletableFuture<Void> execute(Message<T> message, MessageProcessingContext<T> context) {
        return PermitSinks.execute(1, context, counted -> super.execute(message, counted));
    }

    /**
     * What messages of a group hold: a permit each; or after a wait one for all of them, kept from each to the next: in between, a
     * listener that stops would take them for done.
     */
    private record Permits<T>(MessageProcessingContext<T> context, boolean areShared) {

        MessageProcessingContext<T> ofHead() {
            return areShared ? context.setBackPressureReleaseCallback(() -> {}) : context;
        }

        void releaseThoseOf(List<Message<T>> rest) {
            for (int left = areShared ? 1 : rest.size(); left > 0; left--) {
                context.runBackPressureReleaseCallback();
            }
        }
    }

    /** The message that the rest of its group depends on, once it has left its pipeline. */
    private record Head(Optional<Delivery> delivery, MessageOrigin origin) {

        boolean waits() {
            return delivery.filter(Delivery::waitsOnItsLastReceive).isPresent();
        }

        /** Completes when its wait is over, with whether it will not come again, as far as its delivery knows. */
        CompletableFuture<Boolean> gone() {
            return waits() ? delivery.orElseThrow().gone() : CompletableFuture.completedFuture(seemsGone());
        }

        boolean seemsGone() {
            return delivery.filter(Delivery::leavesItsQueue).isPresent();
        }

        /**
         * Completes with whether it will not come again: it is deleted, or its queue gives it up; no if that cannot be found out.
         * Never fails: what depends on it has permits to give back.
         */
        CompletableFuture<Boolean> leaves(boolean seemsGone) {
            if (!seemsGone || delivery.filter(Delivery::isAcknowledged).isPresent()) {
                return CompletableFuture.completedFuture(seemsGone);
            }
            try {
                return origin.givesUp(delivery.orElseThrow()).exceptionally(this::unknown);
            } catch (Throwable failure) {
                return CompletableFuture.completedFuture(unknown(failure));
            }
        }

        private boolean unknown(Throwable failure) {
            log.warn(
                    "Whether the queue gives up {} is not known; the rest of its group stays",
                    delivery.orElseThrow(),
                    failure);
            return false;
        }
    }
}
