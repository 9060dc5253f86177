package io.exactlyonce;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Thrown by a batch handler that failed for some of its items only: those are released and come again with backoff, all
 * other items are completed and their messages deleted. Any other exception fails the whole batch.
 *
 * <pre>{@code
 * BatchItemFailures failures = new BatchItemFailures();
 * for (int index = 0; index < orders.size(); index++) {
 *     try {
 *         fulfil(orders.get(index), claims.get(index));
 *     } catch (CarrierException failure) {
 *         failures.add(index, failure);
 *     }
 * }
 * failures.throwIfAny();
 * }</pre>
 *
 * <p>It is a checked exception, for which Spring's transactions commit by default: what a {@code @Transactional}
 * handler wrote for the other items must not be rolled back, since they do not come again. What it wrote for the failed
 * ones is left to it.
 *
 * <p>Not safe for use by many threads at a time.
 */
public final class BatchItemFailures extends Exception {

    private static final long serialVersionUID = 1;

    @SuppressWarnings("serial") // A sorted map of integers and throwables is serializable.
    private final Map<Integer, Throwable> failures = new TreeMap<>();

    /** Makes an exception that names no items yet. Thrown as it is, it fails the whole batch. */
    public BatchItemFailures() {
        super(null, null);
    }

    /**
     * Names items that failed.
     *
     * @param indexes positions in the list that the handler got, from 0
     * @throws IndexOutOfBoundsException if one is negative
     */
    public static BatchItemFailures of(int... indexes) {
        BatchItemFailures named = new BatchItemFailures();
        for (int index : indexes) {
            named.add(index, null);
        }
        return named;
    }

    /**
     * Names an item that failed.
     *
     * @param index its position in the list that the handler got, from 0. One beyond the list's end fails the whole
     *     batch
     * @param cause why it failed, if that is known: kept with the claim as a text, and compared with {@link
     *     ExactlyOnceListener#parkFor()}
     * @throws IndexOutOfBoundsException if the index is negative
     */
    public void add(int index, @Nullable Throwable cause) {
        if (index < 0) {
            throw new IndexOutOfBoundsException("Index %d of a failed item is negative".formatted(index));
        }
        Throwable failure = cause == null ? this : cause;
        if (failures.putIfAbsent(index, failure) == null && failure != this) {
            addSuppressed(failure);
        }
    }

    /** Throws this exception if it names an item. */
    public void throwIfAny() throws BatchItemFailures {
        if (!failures.isEmpty()) {
            throw this;
        }
    }

    /** Returns the failed items' indexes in their order, each with its cause; with this exception if it has none. */
    public Map<Integer, Throwable> failures() {
        return Collections.unmodifiableMap(failures);
    }

    /** Names the indexes only: what a cause says may be personal data. */
    @Override
    public String getMessage() {
        return "%d items of the batch failed, at %s".formatted(failures.size(), failures.keySet());
    }
}
