package io.exactlyonce.claim.groupcommit;

import java.time.Duration;

/**
 * How calls share batches.
 *
 * @param flushers largest number of batches that are sent at a time, from 1 to 16; renewals are not counted. More
 *     than two help only if the store answers the entries of a batch one by one
 * @param maxBatch number of claims and resolutions from which a batch takes no further call, from 1 to 256; no call
 *     is split
 * @param queueTimeout longest wait of a call for its batch, positive; does not limit the wait for the store's
 *     answer
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

    /** Makes settings with the remedy that helps for each store. */
    public GroupCommitSettings(int flushers, int maxBatch, Duration queueTimeout) {
        this(flushers, maxBatch, queueTimeout, REMEDY);
    }

    private static void requireWithin(String what, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException("%s (%d) must be from 1 to %d".formatted(what, value, most));
        }
    }
}
