package io.exactlyonce.visibility;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Changes when messages of one queue become visible to other consumers. */
@FunctionalInterface
public interface QueueVisibility {

    /** The result of one change. */
    enum Result {
        /** The queue accepted it; another consumer may still have the message. */
        CHANGED,
        /** The queue will never accept it: the receipt handle has expired. */
        REFUSED,
        /** It may work when it is tried again. */
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
     * Sends the changes in as few requests as possible.
     *
     * @return a result for each receipt handle; never fails
     */
    CompletableFuture<Map<String, Result>> change(List<Change> changes);
}
