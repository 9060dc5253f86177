package io.exactlyonce.delivery;

/**
 * How far a delivery has come. Each step is one compare-and-set, and a step without an arrow here is rejected.
 *
 * <p>The state shows what happened to a message: an effect that is not recorded yet ({@link #HANDLED}) has no arrow to
 * {@link #RETURNED}, so that its message is not exposed to a second handler whose claim would be refused, or, once the
 * lease is over, repeat the effect.
 */
public enum DeliveryState {
    /** Renewed; nothing else has been done. */
    RECEIVED,
    /** Kept from its handler before that was called, since its listener stops. Its claim, if any, is released first. */
    HELD_BACK,
    /** Its key is asked for; once more if its transaction was rolled back since other deliveries of its batch failed. */
    CLAIMING,
    /** Its key is held for it; there need be no thread for it yet. */
    CLAIMED,
    /** Its reconciler or handler has been called. */
    HANDLING,
    /** Its effect has happened, or may have, and is not recorded. */
    HANDLED,
    /** It had no effect, or its key is in doubt; its claim is released. */
    FAILED,
    /** Its effect is recorded, by this delivery or an earlier one: the message is to be deleted. */
    RECORDED,
    /** It waits, invisible, for the owner of its key. */
    WAITING,
    /** The queue is asked to delete the message. */
    DELETING,
    /** The message has been made visible again. */
    RETURNED,
    /** Neither deleted nor returned: its visibility timeout expires. */
    ABANDONED,
    /** The queue has answered the delete, or its listener has stopped before that. */
    GONE;

    /** Without sets: a delivery takes some eight steps. */
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

    /** Returns whether it has left its listener's pipeline, so that nothing is left to be decided there. */
    boolean isSettled() {
        return switch (this) {
            case WAITING, DELETING, RETURNED, ABANDONED, GONE -> true;
            default -> false;
        };
    }

    /** Returns whether its key is completed, and its message deleted or to be deleted. */
    boolean isAcknowledged() {
        return this == RECORDED || this == DELETING || this == GONE;
    }
}
