package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.BatchItemFailures;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.HandlerFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The items of a batch that are left for a retry, after a call of the method that named those that failed.
 *
 * @param positions of the items, in the batch of the first call
 * @param failure names them, also by their positions there
 */
public record LeftItems(List<Integer> positions, BatchItemFailures failure) {

    /**
     * Returns the items that are left after a further failure; {@code null} if that failed the whole batch.
     *
     * @param before the items that the call was made for; {@code null} for the whole batch
     * @param size of the whole batch
     */
    public static @Nullable LeftItems after(Throwable thrown, @Nullable LeftItems before, int size) {
        int called = before == null ? size : before.positions.size();
        Map<Integer, Throwable> named = HandlerFailure.of(thrown).ofItems(called);
        if (named.isEmpty() && before == null) {
            return null;
        }
        List<Integer> positions = new ArrayList<>();
        BatchItemFailures failure = new BatchItemFailures();
        for (int index = 0; index < called; index++) {
            Throwable cause = named.isEmpty() ? thrown : named.get(index);
            if (cause != null) {
                int position = before == null ? index : before.positions.get(index);
                positions.add(position);
                failure.add(position, cause instanceof BatchItemFailures ? null : cause);
            }
        }
        failure.setStackTrace(thrown.getStackTrace());
        return new LeftItems(positions, failure);
    }

    /** Returns the deliveries that are left of the first call's. */
    public List<Delivery> of(List<Delivery> all) {
        List<Delivery> left = new ArrayList<>(positions.size());
        for (int position : positions) {
            left.add(all.get(position));
        }
        return left;
    }
}
