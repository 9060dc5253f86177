package io.exactlyonce;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reports the failed items of a batch. Those are released and redelivered with backoff; all other items are completed
 * and their messages deleted. Any other exception fails the whole batch.
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
 * <p>A checked exception, because Spring's transactions commit on it by default: writes of a {@code @Transactional}
 * handler for the other items must not be rolled back, since those are not redelivered. Undoing writes for the failed
 * items is the handler's task.
 *
 * <p>Not thread-safe.
 */
public final class BatchItemFailures extends Exception {

    private static final long serialVersionUID = 1;

    @SuppressWarnings("serial") // A sorted map of integers and throwables is serializable.
    private final Map<Integer, Throwable> failures = new TreeMap<>();

    /** Creates an exception without items. If it is thrown without any, it fails the whole batch. */
    public BatchItemFailures() {
        super(null, null);
    }

    /**
     * Adds failed items.
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
     * Adds a failed item.
     *
     * @param index its position in the list that the handler got, from 0. One beyond the list's end fails the whole
     *     batch
     * @param cause the failure, if known: stored with the claim as text, and compared with {@link
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

    /** Throws this exception if it has items. */
    public void throwIfAny() throws BatchItemFailures {
        if (!failures.isEmpty()) {
            throw this;
        }
    }

    /** Returns the failed indexes in order, each with its cause, or with this exception if it has none. */
    public Map<Integer, Throwable> failures() {
        return Collections.unmodifiableMap(failures);
    }

    /** Contains only the indexes: causes may quote personal data. */
    @Override
    public String getMessage() {
        return "%d items of the batch failed, at %s".formatted(failures.size(), failures.keySet());
    }
}
