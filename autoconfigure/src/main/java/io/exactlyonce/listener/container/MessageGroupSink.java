package io.exactlyonce.listener.container;

import io.awspring.cloud.sqs.CompletableFutures;
import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.sink.OrderedMessageSink;
import io.exactlyonce.boundary.Boundary;
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
 * <p>One that waits on its last receive keeps the rest, invisible, without a thread and without a permit, until its wait is
 * over; then they go on for the same reason.
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
                group.size(),
                context,
                counted -> isRunning() ? handle(group, new Permits<>(context, counted, counted)) : NOTHING_LEFT,
                abandon);
        return handled.whenComplete((done, failure) -> {
            // What fails in a group is no failure of its messages, which stop the group, but a crash.
            Boundary.guard("A message group", handled::join, crash -> abandon.run());
            // What is not settled at the end has not begun.
            var unused = SettlingPipeline.finish(group, context, engine, engine.deliveries()::settleWhileStopping);
        });
    }

    /** The next message begins only when how this one ended is on record: after a crash in between, it would have overtaken it. */
    private CompletableFuture<Void> handle(List<Message<T>> group, Permits<T> permits) {
        Message<T> message = group.get(0);
        List<Message<T>> rest = group.subList(1, group.size());
        return CompletableFutures.handleCompose(begin(message, permits.ofHead()), (done, failure) -> {
                    if (failure != null) {
                        logError(failure, message);
                    }
                    return SettlingPipeline.finish(
                            List.of(message), permits.held(), engine, engine.deliveries()::settle);
                })
                .thenCompose(settled -> rest.isEmpty() ? NOTHING_LEFT : goOn(message, rest, permits));
    }

    /** One for which there is no thread stops its group like one that failed. */
    private CompletableFuture<Void> begin(Message<T> message, MessageProcessingContext<T> context) {
        try {
            return execute(message, context);
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
    }

    private CompletableFuture<Void> goOn(Message<T> message, List<Message<T>> rest, Permits<T> permits) {
        ReceivedMessage head = ReceivedMessage.require(message);
        if (!head.delivery().waitsOnItsLastReceive()) {
            return goOn(head, head.delivery().leavesItsQueue(), rest, permits);
        }
        // The permit first: a listener that stops ends the wait, and then waits for permits that are taken.
        CompletableFuture<Void> goneOn = head.delivery()
                .gone()
                .thenCompose(gone -> head.origin()
                        .takePermitBack()
                        .thenCompose(taken -> PermitSinks.execute(
                                1,
                                permits.original(),
                                counted -> goOn(head, gone, rest, permits.shared(counted)),
                                () -> engine.deliveries().abandon(SettlingPipeline.deliveries(rest)))));
        // After that: a listener that stops meanwhile finds a permit taken at any time.
        rest.forEach(each -> permits.held().runBackPressureReleaseCallback());
        return goneOn;
    }

    private CompletableFuture<Void> goOn(
            ReceivedMessage head, boolean seemsGone, List<Message<T>> rest, Permits<T> permits) {
        return isGone(head, seemsGone)
                .thenCompose(isGone -> isGone
                        ? CompletableFuture.completedFuture(rest)
                                .thenComposeAsync(next -> handle(next, permits), continuations)
                        : NOTHING_LEFT);
    }

    /** Completes with whether it will not come again: it is deleted, or its queue gives it up; no if that cannot be found out. */
    private static CompletableFuture<Boolean> isGone(ReceivedMessage head, boolean seemsGone) {
        return !seemsGone || head.delivery().isAcknowledged()
                ? CompletableFuture.completedFuture(seemsGone)
                : head.origin().givesUp(head.delivery());
    }

    /**
     * What messages of a group hold: a permit each; or after a wait one for all of them, kept from each to the next: in between, a
     * listener that stops would take them for done.
     *
     * @param original gives permits of the listener back
     * @param held gives back those that are held, and no more
     * @param ofHead gives back that of the message that is handled
     */
    private record Permits<T>(
            MessageProcessingContext<T> original,
            MessageProcessingContext<T> held,
            MessageProcessingContext<T> ofHead) {

        Permits<T> shared(MessageProcessingContext<T> one) {
            return new Permits<>(original, one, one.setBackPressureReleaseCallback(() -> {}));
        }
    }
}
