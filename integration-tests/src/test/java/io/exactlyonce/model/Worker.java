package io.exactlyonce.model;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one worker, which a crash erases.
 *
 * @param message the message that it handles
 * @param claim the id of its request
 * @param attempt the attempt of its claim, once acquired
 * @param window the remaining ticks of the message's visibility timeout by the worker's clock
 * @param lease the remaining ticks of the claim's lease by the worker's clock
 * @param doubt whether the claim that it releases may have had effects
 * @param met the row that it read and is about to take over, or to write at the end of its transaction, if any
 * @param paused whether the worker stands still while time passes
 * @param leaseFails whether a renewal of the lease has failed since the last tick
 * @param windowFails whether a renewal of the visibility timeout has failed since the last tick
 */
record Worker(
        Phase phase,
        int message,
        int claim,
        int attempt,
        int window,
        int lease,
        boolean doubt,
        @Nullable Row met,
        boolean paused,
        boolean leaseFails,
        boolean windowFails) {

    static final Worker IDLE = new Worker(Phase.IDLE, 0, 0, 0, 0, 0, false, null, false, false, false);

    enum Phase {
        IDLE,
        /** The worker has requested the key. */
        CLAIMING,
        /** The claim has read the row but has not written yet. */
        READ,
        /** The claim holds the key, but the worker has no answer yet. */
        ACQUIRED,
        /** The handler runs. */
        HANDLING,
        /** {@code ensureHeld()} has passed, {@code fence()} has locked, or the transaction has written. */
        CHECKED,
        /** The effect has happened. */
        DONE,
        COMPLETING,
        ACKNOWLEDGING,
        RELEASING,
        PARKING,
        /** The attempt threw: the worker releases its claim, or parks the key if that was the last attempt. */
        FAILING,
        RETURNING,
        /** The worker waits for the owner of its key. */
        WAITING,
        /** The transaction is rolled back, and the worker claims the key once more to park it. */
        PARKS_ANEW;

        boolean isHandler() {
            return this == HANDLING || this == CHECKED || this == DONE;
        }

        boolean renewsLease() {
            return isHandler() || this == COMPLETING;
        }
    }

    static Worker receiving(int message, int claim, int window, int lease) {
        return new Worker(Phase.CLAIMING, message, claim, 0, window, lease, false, null, false, false, false);
    }

    Worker to(Phase next) {
        return new Worker(next, message, claim, attempt, window, lease, doubt, null, paused, leaseFails, windowFails);
    }

    Worker reading(Row row) {
        return new Worker(
                Phase.READ, message, claim, attempt, window, lease, doubt, row, paused, leaseFails, windowFails);
    }

    Worker acquired(int number) {
        return new Worker(
                Phase.ACQUIRED, message, claim, number, window, lease, doubt, null, paused, leaseFails, windowFails);
    }

    /** Works in a transaction that has read the row. The worker assumes until the end that the row is unchanged. */
    Worker working(Phase next, int number, Row row) {
        return new Worker(next, message, claim, number, window, lease, doubt, row, paused, leaseFails, windowFails);
    }

    /** The worker stops renewing its lease, and releases its claim in time. */
    Worker giveUp(Phase next, boolean inDoubt) {
        return new Worker(next, message, claim, 0, window, lease, inDoubt, null, paused, leaseFails, windowFails);
    }

    /** The worker no longer needs its claim, and forgets it. */
    Worker letGo(Phase next) {
        return new Worker(next, message, 0, 0, window, 0, false, null, paused, leaseFails, windowFails);
    }

    Worker times(int windowLeft, int leaseLeft) {
        return new Worker(
                phase, message, claim, attempt, windowLeft, leaseLeft, doubt, met, paused, leaseFails, windowFails);
    }

    Worker of(int which) {
        return new Worker(
                phase,
                which,
                claim,
                attempt,
                window,
                lease,
                doubt,
                met == null ? null : met.swapped(),
                paused,
                leaseFails,
                windowFails);
    }

    Worker named(UnaryOperator<Integer> names) {
        return new Worker(
                phase,
                message,
                names.apply(claim),
                attempt,
                window,
                lease,
                doubt,
                met == null ? null : met.named(names),
                paused,
                leaseFails,
                windowFails);
    }

    Worker paused(boolean now) {
        return new Worker(phase, message, claim, attempt, window, lease, doubt, met, now, leaseFails, windowFails);
    }

    Worker failing(boolean leaseNow, boolean windowNow) {
        return new Worker(phase, message, claim, attempt, window, lease, doubt, met, paused, leaseNow, windowNow);
    }

    boolean knows(int id) {
        return claim == id || (met != null && met.claim() == id);
    }
}
