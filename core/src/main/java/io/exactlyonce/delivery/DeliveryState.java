package io.exactlyonce.delivery;

/**
 * The progress of a delivery. {@code mayBecome} lists the permitted steps. Each step is one compare-and-set.
 *
 * <p>{@link #HANDLED} never becomes {@link #RETURNED}. In the state HANDLED, the effect has happened but is not
 * recorded. If the message were returned then, another handler would repeat the effect after the lease has expired.
 */
public enum DeliveryState {
    /** The message was received, and its visibility timeout is renewed. Nothing else has happened yet. */
    RECEIVED,
    /**
     * The listener's stop has prevented the call of the handler. If the key was claimed, its claim is released before
     * the message is returned.
     */
    HELD_BACK,
    /**
     * The key is being claimed. A delivery returns to this state if its transaction was rolled back and is repeated.
     */
    CLAIMING,
    /** The key is claimed, and the handler was not called yet. The delivery may be waiting for a thread. */
    CLAIMED,
    /** The reconciler or the handler was called. */
    HANDLING,
    /** The effect happened, and is not recorded yet. */
    HANDLED,
    /**
     * The attempt failed, or the handler was not called. The claim is released or parked, or expires with its lease.
     */
    FAILED,
    /**
     * The message is to be deleted, because this delivery or an earlier one succeeded, or because the listener skips
     * messages without a key.
     */
    RECORDED,
    /** The delivery waits for the owner of its key. Its message stays invisible. */
    WAITING,
    /** The message is being deleted. */
    DELETING,
    /** The message is made visible again, at once or after a delay. */
    RETURNED,
    /** The message is neither deleted nor returned. SQS makes it visible when its visibility timeout expires. */
    ABANDONED,
    /** SQS has answered the delete, or the listener stopped before the answer. */
    GONE;

    /**
     * Returns whether the next state is permitted. Uses a switch because each delivery takes about eight steps, and a
     * switch is faster than sets of states.
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

    /** Returns whether the delivery has left its listener's pipeline. */
    boolean isSettled() {
        return switch (this) {
            case WAITING, DELETING, RETURNED, ABANDONED, GONE -> true;
            default -> false;
        };
    }

    boolean isAcknowledged() {
        return this == RECORDED || this == DELETING || this == GONE;
    }
}
