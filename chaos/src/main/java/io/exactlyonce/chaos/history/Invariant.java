package io.exactlyonce.chaos.history;

/** What must hold in every run. */
public enum Invariant {

    /** A {@code DATABASE} handler's row is there exactly once if its key is completed, and at most once otherwise. */
    DATABASE_EFFECT_ONCE,

    /**
     * An effect at a partner is repeated only after a crash, or the loss of the claim, between effect and completion, of
     * which the next attempt knew; never at a partner that honours the key; never under {@code PARK}.
     */
    EFFECT_NOT_REPEATED,

    /** No handler passes a check that began when another one's later claim of the key was held already. */
    ONE_HOLDER,

    /** Each claim of a key has a fencing token of its own, and later claims have greater ones. */
    TOKENS_GROW,

    /** A handler is told of every earlier attempt that did not report an outcome. */
    DOUBT_IS_TOLD,

    /** A completed key is never claimed again. */
    COMPLETED_RUNS_NO_MORE,

    /** In observe mode, a key whose handler returned is completed if nothing interfered with its claim. */
    OBSERVED_IS_RECORDED,

    /** Of an operator's decisions on a parked claim one counts, and it stays. */
    DECISION_STANDS,

    /** Every message's key completes with its effect, is parked, or is in the dead-letter queue with its reason. */
    NOTHING_LOST,

    /** When all is done, no claim is held, and nothing waits. */
    NOTHING_STUCK,

    /** After the faults, the system drains by itself in a bounded time. */
    DRAINS,

    /** A group's message is not handled before the one in front of it is done. */
    GROUP_ORDER,

    /**
     * A handled key has a follow-up message where its handler sends one, with one key in all attempts; a transaction that was rolled back
     * has none.
     */
    FOLLOW_UP_ONCE,

    /** A key is parked by the last attempt that may throw, not earlier, and runs no more. */
    ATTEMPTS_LIMITED,

    /** A message without a key is skipped, and deleted without its handler, or handled without a claim. */
    MISSING_KEY_DECIDED,

    /** The history itself can be judged. A breach is a mistake of the harness. */
    SOUND_HISTORY
}
