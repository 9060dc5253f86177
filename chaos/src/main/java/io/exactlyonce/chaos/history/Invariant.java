package io.exactlyonce.chaos.history;

/** The invariants of every run. */
public enum Invariant {

    /**
     * The row of a {@code DATABASE} handler exists exactly once if its key is completed, and at most once otherwise.
     */
    DATABASE_EFFECT_ONCE,

    /**
     * An effect at a partner is repeated only after a crash or a lost claim between effect and completion, and only if
     * the next attempt was informed of the doubt. An effect is never repeated at a partner that honours the key, and
     * never under {@code PARK}.
     */
    EFFECT_NOT_REPEATED,

    /** No handler passes a check that started when another handler already held a later claim of the key. */
    ONE_HOLDER,

    /** Each claim of a key has a different fencing token, and later claims have higher tokens. */
    TOKENS_GROW,

    /** A handler is informed of each earlier attempt that reported no outcome. */
    DOUBT_IS_TOLD,

    /** A completed key is never claimed again. */
    COMPLETED_RUNS_NO_MORE,

    /** In observe mode, a key whose handler returned is completed if no fault interfered with its claim. */
    OBSERVED_IS_RECORDED,

    /** One of several operators' decisions on a parked claim counts, and it stays. */
    DECISION_STANDS,

    /** Every message's key is completed with its effect, is parked, or is in the dead-letter queue with its reason. */
    NOTHING_LOST,

    /** At the end, no claim is held, and no message waits. */
    NOTHING_STUCK,

    /** After the faults, the system drains by itself within a limited time. */
    DRAINS,

    /** A group's message is not handled before the message in front of it is done. */
    GROUP_ORDER,

    /**
     * A handled key has a follow-up message if its handler sends one, with the same key in all attempts. A transaction
     * that was rolled back has none.
     */
    FOLLOW_UP_ONCE,

    /** A key is parked by the last attempt that may throw, not earlier, and runs no more. */
    ATTEMPTS_LIMITED,

    /** A message without a key is skipped, and deleted without its handler, or handled without a claim. */
    MISSING_KEY_DECIDED,

    /** The history itself can be judged. A breach is a mistake in the harness. */
    SOUND_HISTORY
}
