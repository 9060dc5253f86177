package io.exactlyonce.claim.groupcommit;

import java.time.Duration;

/**
 * How calls share batches.
 *
 * @param flushers the largest number of batches that are sent at a time, from 1 to 16. Renewals are not counted. More
 *     than two flushers help only if the store answers the entries of a batch one by one
 * @param maxBatch the number of claims and resolutions with which a batch is full, from 1 to 256. A batch can be
 *     larger, because no call is split
 * @param queueTimeout the longest wait of a call for its batch, positive. The wait for the store's answer is not
 *     limited by this time
 * @param remedy what an operator can do if the store is busy, as the end of a sentence
 */
public record GroupCommitSettings(int flushers, int maxBatch, Duration queueTimeout, String remedy) {

    /** The most flushers. */
    public static final int MOST_FLUSHERS = 16;

    /** The largest {@code maxBatch}. */
    public static final int LARGEST_BATCH = 256;

    private static final String REMEDY = "find out what slows it down, or lower the concurrency of listeners";

    /** Settings for stores that answer all entries of a batch at the same time. */
    public static final GroupCommitSettings USUAL = new GroupCommitSettings(2, LARGEST_BATCH, Duration.ofSeconds(3));

    public GroupCommitSettings {
        requireWithin("flushers", flushers, MOST_FLUSHERS);
        requireWithin("maxBatch", maxBatch, LARGEST_BATCH);
        if (queueTimeout.isNegative() || queueTimeout.isZero()) {
            throw new IllegalArgumentException("queueTimeout (%s) must be positive".formatted(queueTimeout));
        }
    }

    /** Makes settings with a remedy that suits every store. */
    public GroupCommitSettings(int flushers, int maxBatch, Duration queueTimeout) {
        this(flushers, maxBatch, queueTimeout, REMEDY);
    }

    private static void requireWithin(String what, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException("%s (%d) must be from 1 to %d".formatted(what, value, most));
        }
    }
}
