package io.exactlyonce.delivery;

/**
 * The progress of a delivery. Each step is one compare-and-set. {@code mayBecome} lists the permitted steps, and all
 * others are rejected.
 *
 * <p>No step leads from {@link #HANDLED}, an effect that is not recorded yet, to {@link #RETURNED}. If the message were
 * returned, a second handler would repeat the effect as soon as the lease has expired.
 */
public enum DeliveryState {
    /** The message was received, and its visibility timeout is renewed. Nothing else was done. */
    RECEIVED,
    /**
     * The handler is not called, because the listener stops. If the delivery has a claim, the claim is released before
     * the message is returned.
     */
    HELD_BACK,
    /**
     * The key is being claimed. A delivery returns to this state if its transaction was rolled back because of the
     * failure of another delivery.
     */
    CLAIMING,
    /** The delivery holds its claim, and the handler was not called yet. The delivery may still wait for a thread. */
    CLAIMED,
    /** The reconciler or the handler was called. */
    HANDLING,
    /** The effect happened, and is not recorded yet. */
    HANDLED,
    /** The attempt failed, or the handler was not called. The claim is released or parked, or ends with its lease. */
    FAILED,
    /**
     * The message is to be deleted, because the effect is recorded, by this delivery or an earlier one, or because the
     * policy skips the message.
     */
    RECORDED,
    /** The delivery waits for the owner of its key, and its message is invisible. */
    WAITING,
    /** The message is being deleted. */
    DELETING,
    /** The message is made visible again, at once or after a delay. */
    RETURNED,
    /** The message is neither deleted nor returned, and becomes visible when its visibility timeout expires. */
    ABANDONED,
    /** The delete was answered, or the listener stopped before the answer. */
    GONE;

    /**
     * Returns whether a delivery may change from this state to the next state. A switch is faster than sets of states,
     * and each delivery takes about eight steps.
     */
    boolean mayBecome(DeliveryState next) {
        return switch (this) {
            case RECEIVED -> next == CLAIMING || next == HELD_BACK || next == RETURNED || next == ABANDONED;
            case CLAIMING ->
                next == CLAIMED || next == RECORDED || next == WAITING || next == RETURNED || next == ABANDONED;
            case CLAIMED ->
                next == HANDLING || next == FAILED || next == HELD_BACK || next == RETURNED || next == ABANDONED;
            case HANDLING -> next == HANDLED || next == FAILED || next == CLAIMING || next == ABANDONED;
            case HANDLED -> next == RECORDED || next == ABANDONED;
            case HELD_BACK, FAILED -> next == RETURNED || next == ABANDONED;
            case RECORDED -> next == DELETING || next == GONE;
            case WAITING -> next == DELETING || next == RETURNED || next == ABANDONED;
            case DELETING -> next == GONE;
            case RETURNED, ABANDONED, GONE -> false;
        };
    }

    boolean isFinal() {
        return this == RETURNED || this == ABANDONED || this == GONE;
    }

    /** Returns whether the delivery has left its listener's pipeline, which decides nothing more about it. */
    boolean isSettled() {
        return switch (this) {
            case WAITING, DELETING, RETURNED, ABANDONED, GONE -> true;
            default -> false;
        };
    }

    /** Returns whether the message is deleted or to be deleted. */
    boolean isAcknowledged() {
        return this == RECORDED || this == DELETING || this == GONE;
    }
}
