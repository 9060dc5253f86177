package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.coalescing.PendingCall.Kind;
import java.util.Iterator;
import java.util.List;

/**
 * Takes batches, writes them to the store, and answers their entries, until its queue is closed. It runs on a platform
 * thread of its own: an interrupt of a caller's virtual thread would close the connection, and fail all of a batch.
 */
final class Flusher implements Runnable {

    private final ClaimQueue queue;
    private final ClaimStore store;

    Flusher(ClaimQueue queue, ClaimStore store) {
        this.queue = queue;
        this.store = store;
    }

    @Override
    public void run() {
        List<PendingCall<?>> batch = queue.take();
        while (!batch.isEmpty()) {
            flush(batch);
            batch = queue.take();
        }
    }

    /**
     * Whatever happens, the batch's callers get an answer, and its keys can go on: before the answers are shown, since what
     * depends on them runs here.
     */
    private void flush(List<PendingCall<?>> batch) {
        try {
            write(batch);
        } catch (Throwable inTheMiddle) {
            // Not even the failure could be noted, as when the stack is used up: that much is shown below.
        }
        queue.returned(batch);
        batch.forEach(PendingCall::show);
    }

    /** One entry that the store can never take must not fail its neighbours: the batch is halved until it is alone. */
    private void write(List<PendingCall<?>> batch) {
        try {
            answer(batch, apply(batch));
        } catch (IllegalArgumentException poison) {
            int half = batch.size() / 2;
            if (half == 0) {
                batch.get(0).fail(new IllegalArgumentException(poison.getMessage(), poison));
            } else {
                write(batch.subList(0, half));
                write(batch.subList(half, batch.size()));
            }
        } catch (Throwable failure) {
            batch.forEach(entry -> entry.fail(unanswered(batch.size(), failure)));
        }
    }

    private ClaimBatch.Result apply(List<PendingCall<?>> batch) {
        return store.apply(new ClaimBatch(
                PendingCall.requests(batch, ClaimEnd.class), PendingCall.requests(batch, ClaimRequest.class)));
    }

    private static void answer(List<PendingCall<?>> batch, ClaimBatch.Result result) {
        Iterator<ClaimOutcome> outcomes = result.claimed().iterator();
        for (PendingCall<?> entry : batch) {
            entry.note(entry.kind() == Kind.CLAIM ? outcomes.next() : result);
        }
    }

    /** To each caller its own: callers add to what they catch. */
    private static RuntimeException unanswered(int size, Throwable failure) {
        return new ClaimStoreUnavailableException(
                "The store did not answer a batch of %d: %s".formatted(size, failure.getMessage()), failure);
    }
}
