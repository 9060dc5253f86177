package io.exactlyonce.delivery;

import io.exactlyonce.BatchResult;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A {@link BatchResult} in the form of an exception: some items of the batch failed, and the others succeeded. */
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
     * Makes an exception from the failed items that a handler's result lists.
     *
     * @param handler the handler's name, for the exception's message
     * @param size the number of items in the batch
     * @return {@code null} if the result is not a {@link BatchResult}, or if no item failed
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
     * Returns the exceptions of the failed items, by the item's position in the batch. Empty if the handler named a
     * position that the batch does not have. The whole batch then fails.
     */
    Map<Integer, Throwable> ofItems() {
        return areOfTheBatch ? failures : Map.of();
    }

    Collection<Throwable> causes() {
        return failures.values();
    }
}
