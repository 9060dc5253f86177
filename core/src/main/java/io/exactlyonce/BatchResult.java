package io.exactlyonce;

import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.springframework.lang.CheckReturnValue;

/**
 * The result of a batch handler, with the failed items. An item is one message with its key. The keys of failed items
 * are released, and their messages are redelivered with backoff. All other items are completed, and their messages are
 * deleted. If the handler throws an exception instead, the whole batch fails.
 *
 * <pre>{@code
 * BatchResult result = BatchResult.allSucceeded();
 * for (int index = 0; index < orders.size(); index++) {
 *     try {
 *         fulfil(orders.get(index), claims.get(index));
 *     } catch (CarrierException failure) {
 *         result = result.andFailed(index, failure);
 *     }
 * }
 * return result;
 * }</pre>
 *
 * <p>Spring commits the transaction of a {@code @Transactional} handler when the handler returns, even if the result
 * names failed items. The handler itself must undo its writes for the failed items. With {@link Effects#DATABASE}, the
 * library rolls back all writes of the batch, and calls the handler again without the failed items.
 *
 * <p>Immutable.
 */
public final class BatchResult {

    private static final BatchResult ALL_SUCCEEDED = new BatchResult(Map.of());

    private final Map<Integer, Throwable> failures;

    private BatchResult(Map<Integer, Throwable> failures) {
        this.failures = failures;
    }

    /** Returns the result of a batch whose items all succeeded. */
    @CheckReturnValue
    public static BatchResult allSucceeded() {
        return ALL_SUCCEEDED;
    }

    /**
     * Returns the result of a batch in which one item failed.
     *
     * @param index the item's position in the handler's list, from 0. A position beyond the end of the list fails the
     *     whole batch
     * @param cause the item's failure. Its text is stored with the claim. If its type is in {@link
     *     ExactlyOnceListener#parkFor()}, the item's key is parked
     * @throws IndexOutOfBoundsException if the index is negative
     */
    @CheckReturnValue
    public static BatchResult failed(int index, Throwable cause) {
        return ALL_SUCCEEDED.andFailed(index, cause);
    }

    /**
     * Returns this result with one more failed item. If this result already has a cause for the item, that cause is
     * kept.
     *
     * @param index the item's position in the handler's list, from 0. A position beyond the end of the list fails the
     *     whole batch
     * @param cause the item's failure. Its text is stored with the claim. If its type is in {@link
     *     ExactlyOnceListener#parkFor()}, the item's key is parked
     * @throws IndexOutOfBoundsException if the index is negative
     */
    @CheckReturnValue
    public BatchResult andFailed(int index, Throwable cause) {
        Objects.requireNonNull(cause, "A failed item needs a cause");
        if (index < 0) {
            throw new IndexOutOfBoundsException("Index %d of a failed item is negative".formatted(index));
        }
        Map<Integer, Throwable> all = new TreeMap<>(failures);
        all.putIfAbsent(index, cause);
        return new BatchResult(Collections.unmodifiableMap(all));
    }

    /**
     * Returns the positions of the failed items in ascending order, each with its cause. Empty if all items succeeded.
     */
    public Map<Integer, Throwable> failures() {
        return failures;
    }

    /** Names only the positions of the failed items, because causes may quote personal data. */
    @Override
    public String toString() {
        return failures.isEmpty()
                ? "all items succeeded"
                : "%d items failed, at %s".formatted(failures.size(), failures.keySet());
    }
}
