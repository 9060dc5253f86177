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
        /**
         * The queue accepted the change. Another consumer may have the message nevertheless, because a standard queue
         * also accepts changes by old receipt handles.
         */
        CHANGED,
        /** The queue will never accept the change, for example because the receipt handle has expired. */
        REFUSED,
        /** The change may succeed if it is repeated. */
        FAILED
    }

    /**
     * A request to change when a message becomes visible.
     *
     * @param receiptHandle identifies the delivery of the message
     * @param seconds the time from now until the message becomes visible; 0 makes the message visible at once
     */
    record Change(String receiptHandle, int seconds) {}

    /**
     * The results of changes. The caller logs failures, because the caller decides whether to repeat a change.
     *
     * @param results results by receipt handle; a change whose request failed has none
     * @param failure why a request failed; {@code null} if the queue responded to all requests
     */
    record Answers(Map<String, Result> results, @Nullable Throwable failure) {

        /** Makes the answers of a queue that responded to all requests. */
        public Answers(Map<String, Result> results) {
            this(results, null);
        }

        /** Returns the result for a receipt handle. Returns {@link Result#FAILED} for a change without an answer. */
        public Result of(String receiptHandle) {
            return results.getOrDefault(receiptHandle, Result.FAILED);
        }
    }

    /**
     * Sends the changes in as few requests as possible.
     *
     * @return a future that never fails; completes when each request has been answered or has failed
     */
    CompletableFuture<Answers> change(List<Change> changes);
}
