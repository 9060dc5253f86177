package io.exactlyonce.queue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Changes when messages of one queue become visible to other consumers. */
@FunctionalInterface
public interface QueueVisibility {

    /** The result of one change. */
    enum Result {
        /** The queue accepted the change; another consumer may still have the message. */
        CHANGED,
        /** The queue will never accept the change: the receipt handle has expired. */
        REFUSED,
        /** The change may succeed if it is repeated. */
        FAILED
    }

    /**
     * A request to make a message visible.
     *
     * @param receiptHandle names the delivery
     * @param seconds from now; 0 for at once
     */
    record Change(String receiptHandle, int seconds) {}

    /**
     * The results of changes. The caller logs failures, because it decides whether to try again.
     *
     * @param results by receipt handle
     * @param failure why a request failed; {@code null} if the queue responded to all
     */
    record Answers(Map<String, Result> results, @Nullable Throwable failure) {

        /** Makes the answers of a queue that responded to all requests. */
        public Answers(Map<String, Result> results) {
            this(results, null);
        }

        /** Returns the result for a receipt handle: a change without an answer has failed. */
        public Result of(String receiptHandle) {
            return results.getOrDefault(receiptHandle, Result.FAILED);
        }
    }

    /**
     * Sends the changes in as few requests as possible.
     *
     * @return a result for each receipt handle; never fails
     */
    CompletableFuture<Answers> change(List<Change> changes);
}
