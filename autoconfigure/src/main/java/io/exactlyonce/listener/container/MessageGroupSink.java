package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.CompletableFutures;
import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.sink.OrderedMessageSink;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.permits.PermitSinks;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
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
 * <p>One that waits on its last receive keeps the rest, invisible and without a thread, until its wait is over; then they go on
 * for the same reason. They keep their permits. One at least stays free, since each head gives back its own; and no wait needs
 * one to end: a holder that lives has its own, a dead one's lease ends, and stop and recovery from an outage take none.
 */
final class MessageGroupSink<T> extends OrderedMessageSink<T> {

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
    public CompletableFuture<Void> emit(Collection<Message<T>> messages, MessageProcessingContext<T> context) {
        List<Message<T>> group = List.copyOf(messages);
        Runnable abandon = () -> engine.deliveries().abandon(SettlingPipeline.deliveries(group));
        CompletableFuture<Void> handled = PermitSinks.execute(
                group.size(), context, counted -> isRunning() ? handle(group, counted) : NOTHING_LEFT, abandon);
        return handled.whenComplete((done, failure) -> {
            // What fails in a group is no failure of its messages, which stop the group, but a crash.
            Boundary.guard("A message group", handled::join, crash -> abandon.run());
            // What is not settled at the end has not begun.
            var unused = SettlingPipeline.finish(group, context, engine, engine.deliveries()::settleWhileStopping);
        });
    }

    /** The next message begins only when how this one ended is on record: after a crash in between, it would have overtaken it. */
    private CompletableFuture<Void> handle(List<Message<T>> group, MessageProcessingContext<T> context) {
        Message<T> message = group.get(0);
        List<Message<T>> rest = group.subList(1, group.size());
        // One for which there is no thread stops its group like one that failed.
        return CompletableFutures.handleCompose(PermitSinks.begin(() -> execute(message, context)), (done, failure) -> {
                    if (failure != null) {
                        logError(failure, message);
                    }
                    return SettlingPipeline.finish(List.of(message), context, engine, engine.deliveries()::settle);
                })
                .thenCompose(settled -> rest.isEmpty() ? NOTHING_LEFT : goOn(message, rest, context));
    }

    private CompletableFuture<Void> goOn(
            Message<T> message, List<Message<T>> rest, MessageProcessingContext<T> context) {
        ReceivedMessage head = ReceivedMessage.require(message);
        Delivery delivery = head.delivery();
        return (delivery.waitsOnItsLastReceive()
                        ? delivery.gone()
                        : CompletableFuture.completedFuture(delivery.leavesItsQueue()))
                .thenCompose(seemsGone -> isGone(head, seemsGone))
                .thenCompose(isGone -> isGone
                        ? CompletableFuture.completedFuture(rest)
                                .thenComposeAsync(next -> handle(next, context), continuations)
                        : NOTHING_LEFT);
    }

    /** Completes with whether it will not come again: it is deleted, or its queue gives it up; no if that cannot be found out. */
    private static CompletableFuture<Boolean> isGone(ReceivedMessage head, boolean seemsGone) {
        return !seemsGone || head.delivery().isAcknowledged()
                ? CompletableFuture.completedFuture(seemsGone)
                : head.origin().givesUp(head.delivery());
    }
}
