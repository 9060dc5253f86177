package io.exactlyonce.dynamodb.model;

/**
 * One worker's memory, which a crash erases. A paused worker does not act while time passes.
 *
 * @param claim the name of its claim
 * @param lease the remaining ticks of the lease by the worker's own count, which starts with its request
 * @param end the lease's end that its pending request will write, as in {@link Item#end()}
 * @param sees whether the item is unchanged since this worker's last lookup
 * @param seenFor the number of ticks for which the item was unchanged
 */
record Worker(Phase phase, int claim, int lease, int end, boolean sees, int seenFor) {

    static final Worker IDLE = new Worker(Phase.IDLE, 0, 0, Item.UNKNOWN, false, 0);

    enum Phase {
        /** The worker looks the key up from time to time. */
        IDLE,
        /** The claim is at the store. */
        CLAIMING,
        /** The handler runs. */
        HANDLING,
        /** The transaction is at the store. */
        COMMITTING,
        /**
         * The effect has happened, and a second request will complete the key, because the two are not one transaction.
         */
        COMPLETING,
        /** The worker has seen the completed key, and deleted its message. */
        DONE;

        boolean holds() {
            return this == HANDLING || this == COMMITTING || this == COMPLETING;
        }
    }

    /**
     * Returns the worker in another phase, without an end to write, because only a pending claim request has an end to
     * write.
     */
    Worker to(Phase next) {
        return new Worker(next, claim, lease, Item.UNKNOWN, sees, seenFor);
    }

    Worker named(int other) {
        return new Worker(phase, other, lease, end, sees, seenFor);
    }

    Worker looking() {
        return sees ? this : new Worker(phase, claim, lease, end, true, 0);
    }

    Worker claiming(int name, int leaseEnd) {
        return new Worker(Phase.CLAIMING, name, Item.LEASE, leaseEnd, sees, seenFor);
    }

    Worker renewed() {
        return new Worker(phase, claim, Item.LEASE, Item.UNKNOWN, sees, seenFor);
    }

    Worker unaware() {
        return new Worker(phase, claim, lease, end, false, 0);
    }

    Worker later() {
        return new Worker(
                phase,
                claim,
                Math.max(0, lease - 1),
                end == Item.UNKNOWN ? end : Math.max(Item.LONG_OVER, end - 1),
                sees,
                sees ? Math.min(Item.LEASE, seenFor + 1) : 0);
    }
}
