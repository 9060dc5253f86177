package io.exactlyonce.delivery;

import io.exactlyonce.BatchResult;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reports a {@link BatchResult} as an exception to code that understands only exceptions: some items of a batch failed,
 * and the others succeeded.
 */
public final class FailedItems extends RuntimeException {

    private static final long serialVersionUID = 1;

    @SuppressWarnings("serial") // A sorted map of integers and throwables is serializable.
    private final Map<Integer, Throwable> failures;

    private final boolean areOfTheBatch;

    private FailedItems(String message, Map<Integer, Throwable> failures, boolean areOfTheBatch) {
        super(message);
        this.failures = failures;
        this.areOfTheBatch = areOfTheBatch;
        failures.values().forEach(this::addSuppressed);
    }

    /**
     * Returns the failure that a handler's result reports; {@code null} if the result is not a {@link BatchResult}, or
     * reports no failure.
     *
     * @param handler names the handler
     * @param size of the list that the handler got
     */
    public static @Nullable FailedItems in(@Nullable Object result, Object handler, int size) {
        if (!(result instanceof BatchResult named) || named.failures().isEmpty()) {
            return null;
        }
        Map<Integer, Throwable> failures = named.failures();
        for (int index : failures.keySet()) {
            if (index >= size) {
                return new FailedItems(
                        "%s returned a BatchResult with the failed index %d, but its list had %d items, at 0 to %d; all of them fail"
                                .formatted(handler, index, size, size - 1),
                        failures,
                        false);
            }
        }
        return new FailedItems("Of the batch, " + named, failures, true);
    }

    /**
     * Returns the failed positions in order, each with its cause. Empty if the whole batch failed, because a position
     * was outside of the list.
     */
    Map<Integer, Throwable> ofItems() {
        return areOfTheBatch ? failures : Map.of();
    }

    Collection<Throwable> causes() {
        return failures.values();
    }
}
