package io.exactlyonce.delivery;

/**
 * The progress of a delivery. Each step is one compare-and-set, and a step without an arrow here is rejected.
 *
 * <p>An effect that is not recorded yet ({@link #HANDLED}) has no arrow to {@link #RETURNED}. So its message is not
 * exposed to a second handler. That handler's claim would be refused, or, once the lease has expired, it would repeat
 * the effect.
 */
public enum DeliveryState {
    /** The delivery is renewed; nothing else was done. */
    RECEIVED,
    /** The listener stops, so the handler is not called. A claim of the delivery is released first. */
    HELD_BACK,
    /**
     * The key is being claimed. A delivery comes back here if its transaction was rolled back because others of its
     * batch failed.
     */
    CLAIMING,
    /** The delivery has the claim. A handler thread may not be assigned yet. */
    CLAIMED,
    /** The reconciler or the handler was called. */
    HANDLING,
    /** The effect happened, or may have happened, and is not recorded. */
    HANDLED,
    /** The attempt had no effect, or its key is in doubt; the claim is released. */
    FAILED,
    /** The effect is recorded, by this delivery or an earlier one: the message is to be deleted. */
    RECORDED,
    /** The delivery waits for the owner of its key, and its message is invisible. */
    WAITING,
    /** A request to delete the message was sent. */
    DELETING,
    /** The message was made visible again. */
    RETURNED,
    /** The message is neither deleted nor returned: its visibility timeout expires. */
    ABANDONED,
    /** The queue answered the delete, or the listener stopped before the answer. */
    GONE;

    /**
     * Returns whether a delivery may change to the next state. Uses no sets, because each delivery takes about eight
     * steps.
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

    /** Returns whether the delivery has left its listener's pipeline, where nothing is left to decide. */
    boolean isSettled() {
        return switch (this) {
            case WAITING, DELETING, RETURNED, ABANDONED, GONE -> true;
            default -> false;
        };
    }

    /** Returns whether the key is completed, and the message is deleted or to be deleted. */
    boolean isAcknowledged() {
        return this == RECORDED || this == DELETING || this == GONE;
    }
}
