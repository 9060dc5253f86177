package io.exactlyonce.claim.groupcommit;

import java.time.Duration;

/**
 * How calls share batches.
 *
 * @param flushers most batches on their way to the store at a time, besides renewals, from 1 to 16; a third pays only for a store
 *     that answers the entries of a batch one by one
 * @param maxBatch with so many claims and ends a batch takes no further call, from 1 to 256; no call is divided
 * @param queueTimeout longest wait of a call for its batch, positive; the store's answer to a batch is waited for in any case
 * @param remedy what an operator can do for a store that is busy, as the end of a sentence
 */
public record GroupCommitSettings(int flushers, int maxBatch, Duration queueTimeout, String remedy) {

    /** Most flushers. */
    public static final int MOST_FLUSHERS = 16;

    /** Most entries of a batch. */
    public static final int LARGEST_BATCH = 256;

    private static final String REMEDY = "find out what slows it down, or lower the concurrency of listeners";

    /** Settings for stores that answer the entries of a batch together. */
    public static final GroupCommitSettings USUAL = new GroupCommitSettings(2, LARGEST_BATCH, Duration.ofSeconds(3));

    public GroupCommitSettings {
        requireWithin("flushers", flushers, MOST_FLUSHERS);
        requireWithin("maxBatch", maxBatch, LARGEST_BATCH);
        if (queueTimeout.isNegative() || queueTimeout.isZero()) {
            throw new IllegalArgumentException("queueTimeout (%s) must be positive".formatted(queueTimeout));
        }
    }

    /** Settings with the remedy that helps for each store. */
    public GroupCommitSettings(int flushers, int maxBatch, Duration queueTimeout) {
        this(flushers, maxBatch, queueTimeout, REMEDY);
    }

    private static void requireWithin(String what, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException("%s (%d) must be from 1 to %d".formatted(what, value, most));
        }
    }
}
