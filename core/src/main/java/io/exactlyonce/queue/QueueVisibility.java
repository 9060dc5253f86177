package io.exactlyonce.queue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Changes the visibility timeouts of messages of one queue. */
@FunctionalInterface
public interface QueueVisibility {

    /** The result of one change. */
    enum Result {
        /**
         * The queue accepted the change. A standard queue also accepts an old receipt handle, when another consumer
         * already has the message.
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
     * The results of changes. Failures are not logged here, because the caller may repeat a change.
     *
     * @param results the map's keys are receipt handles; a change is missing if its request failed
     * @param failure why a request failed; {@code null} if the queue responded to all requests
     */
    record Answers(Map<String, Result> results, @Nullable Throwable failure) {

        public Answers(Map<String, Result> results) {
            this(results, null);
        }

        /** Returns the result of the change with this receipt handle; {@link Result#FAILED} if its request failed. */
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
