package io.exactlyonce.claim.groupcommit;

import java.time.Duration;

/**
 * Settings of {@link GroupCommitClaimStore}.
 *
 * @param flushers how many batches may be sent at the same time, from 1 to 16. More than two help only if the store
 *     handles the requests of a batch one by one
 * @param maxBatch the number of requests in a full batch, from 1 to 256. A batch can be larger, because all requests of
 *     a call stay together
 * @param queueTimeout how long a call may wait in the queue; must be positive. The wait for the store's answer is not
 *     included
 * @param remedy advice for operators if the store is busy. An error message ends with this text
 */
public record GroupCommitSettings(int flushers, int maxBatch, Duration queueTimeout, String remedy) {

    /** The most flushers. */
    public static final int MOST_FLUSHERS = 16;

    /** The largest {@code maxBatch}. */
    public static final int LARGEST_BATCH = 256;

    private static final String REMEDY = "find out what slows it down, or lower the concurrency of listeners";

    /** Settings for stores that process all requests of a batch at the same time. */
    public static final GroupCommitSettings USUAL = new GroupCommitSettings(2, LARGEST_BATCH, Duration.ofSeconds(3));

    public GroupCommitSettings {
        requireWithin("flushers", flushers, MOST_FLUSHERS);
        requireWithin("maxBatch", maxBatch, LARGEST_BATCH);
        if (queueTimeout.isNegative() || queueTimeout.isZero()) {
            throw new IllegalArgumentException("queueTimeout (%s) must be positive".formatted(queueTimeout));
        }
    }

    /** Makes settings with advice that suits every store. */
    public GroupCommitSettings(int flushers, int maxBatch, Duration queueTimeout) {
        this(flushers, maxBatch, queueTimeout, REMEDY);
    }

    private static void requireWithin(String what, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException("%s (%d) must be from 1 to %d".formatted(what, value, most));
        }
    }
}
