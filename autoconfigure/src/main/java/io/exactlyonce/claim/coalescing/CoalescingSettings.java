package io.exactlyonce.claim.coalescing;

import java.time.Duration;

/**
 * How calls are put together.
 *
 * @param flushers most batches on their way to the store at a time, besides renewals, 1 or 2: a third does not pay
 * @param maxBatch most entries of a batch, from 1 to 256
 * @param patience longest wait of an entry for its batch, and of a chunk of renewals for those before it, positive; what is on
 *     its way to the store is waited for in any case
 */
public record CoalescingSettings(int flushers, int maxBatch, Duration patience) {

    /** Most entries of a batch. */
    public static final int LARGEST_BATCH = 256;

    public CoalescingSettings {
        requireWithin("flushers", flushers, 2);
        requireWithin("maxBatch", maxBatch, LARGEST_BATCH);
        if (patience.isNegative() || patience.isZero()) {
            throw new IllegalArgumentException("patience (%s) must be positive".formatted(patience));
        }
    }

    private static void requireWithin(String what, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException("%s (%d) must be from 1 to %d".formatted(what, value, most));
        }
    }
}
