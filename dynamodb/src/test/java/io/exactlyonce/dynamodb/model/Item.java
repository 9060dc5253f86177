package io.exactlyonce.dynamodb.model;

/**
 * The key's item.
 *
 * @param claim the claim that holds or held the key; 0 if there is none
 * @param end the end of the lease, in ticks from now by the service's true time; {@link #UNKNOWN} if the writer knew no
 *     time
 */
record Item(Status status, int claim, int end) {

    /** The length of a lease, in ticks. */
    static final int LEASE = 2;

    /** The number of ticks by which front ends may differ. */
    static final int ERROR = 1;

    static final int UNKNOWN = 99;

    /**
     * The lowest value of {@link #end}. Every clock then counts the lease as over, so lower values would add states
     * without a difference.
     */
    static final int LONG_OVER = -3;

    static final Item ABSENT = new Item(Status.ABSENT, 0, UNKNOWN);

    enum Status {
        ABSENT,
        HELD,
        RELEASED,
        COMPLETED
    }

    boolean isHeldBy(int other) {
        return status == Status.HELD && claim == other;
    }

    Item to(Status next) {
        return new Item(next, next == Status.RELEASED ? 0 : claim, UNKNOWN);
    }

    Item named(int other) {
        return new Item(status, other, end);
    }

    Item later() {
        return end == UNKNOWN ? this : new Item(status, claim, Math.max(LONG_OVER, end - 1));
    }
}
