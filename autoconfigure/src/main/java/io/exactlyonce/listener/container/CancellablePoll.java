package io.exactlyonce.listener.container;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import software.amazon.awssdk.services.sqs.model.Message;

/**
 * A poll under way, which awspring cancels when its listener has waited for its handlers until its timeout. Awspring's own futures
 * remove themselves from the list that it is going through then, it fails over that, and neither its threads nor its
 * buffered deletes are ended; and what SQS answers later stays invisible for a whole window.
 */
final class CancellablePoll extends CompletableFuture<Collection<Message>> {

    private CancellablePoll() {}

    /**
     * Makes a poll.
     *
     * @param request the receive
     * @param late takes messages that arrive after the poll was cancelled
     */
    static <A extends Collection<Message>> CancellablePoll of(CompletableFuture<A> request, Consumer<A> late) {
        CancellablePoll poll = new CancellablePoll();
        var unused = request.whenComplete((messages, failure) -> {
            if (failure != null) {
                poll.completeExceptionally(failure);
            } else if (!poll.complete(messages)) {
                late.accept(messages);
            }
        });
        return poll;
    }

    /** Ends the poll, without messages, soon: on another thread, which waits until awspring is through with its list. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        completeAsync(List::of);
        return true;
    }
}
