package io.exactlyonce;

/**
 * What becomes of a key whose earlier attempt was abandoned: its worker died, or it was stopped from outside (its claim
 * was lost, its time was over, its listener stopped), so that it is unknown whether its effect has happened. A handler
 * that failed with an exception of its own has reported, and leaves no such doubt.
 */
public enum InDoubtPolicy {

    /**
     * The next delivery calls the handler again, which sees {@link Claim#isInDoubt()}. Right for handlers that
     * pass {@link Claim#downstreamKey()} to all that they call, or whose effects may happen twice.
     */
    RERUN,

    /** The key is parked: no handler is called until a person has decided, through {@link ExactlyOnceOperations}. */
    PARK,

    /** The next delivery asks a {@link Reconciler}, under the renewed claim, before it calls the handler. */
    RECONCILE
}
