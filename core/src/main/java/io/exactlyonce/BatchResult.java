package io.exactlyonce;

import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.springframework.lang.CheckReturnValue;

/**
 * The outcome of a batch, as its handler returns it. Failed items are released and redelivered with backoff; all other
 * items are completed and their messages deleted. An exception of the handler fails the whole batch.
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
 * <p>Spring's transactions commit when a method returns, so writes of a {@code @Transactional} handler for the other
 * items are kept. Undoing writes for the failed items is the handler's task. With {@link Effects#DATABASE} all is
 * rolled back, and the handler is called again without the failed items.
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
     * Returns the result of a batch of which one item failed.
     *
     * @param index its position in the list that the handler got, from 0; one beyond the list's end fails the whole
     *     batch
     * @param cause the failure: its text is stored with the claim, and its type is compared with {@link
     *     ExactlyOnceListener#parkFor()}
     * @throws IndexOutOfBoundsException if the index is negative
     */
    @CheckReturnValue
    public static BatchResult failed(int index, Throwable cause) {
        return ALL_SUCCEEDED.andFailed(index, cause);
    }

    /**
     * Returns this result with one more failed item. An item that failed before keeps its first cause.
     *
     * @param index its position in the list that the handler got, from 0; one beyond the list's end fails the whole
     *     batch
     * @param cause the failure: its text is stored with the claim, and its type is compared with {@link
     *     ExactlyOnceListener#parkFor()}
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

    /** Returns the failed indexes in order, each with its cause. Empty if all items succeeded. */
    public Map<Integer, Throwable> failures() {
        return failures;
    }

    /** Contains only the indexes: causes may quote personal data. */
    @Override
    public String toString() {
        return failures.isEmpty()
                ? "all items succeeded"
                : "%d items failed, at %s".formatted(failures.size(), failures.keySet());
    }
}
