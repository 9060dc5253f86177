package io.exactlyonce;

/**
 * Policy for a key whose previous attempt ended without reporting an outcome: its process died, its claim was lost, its
 * timeout expired, or its listener was stopped. Its effect may or may not have happened. An attempt that throws its own
 * exception has reported an outcome, and this policy does not apply.
 */
public enum InDoubtPolicy {

    /**
     * The next delivery calls the handler again, which sees {@link Claim#isInDoubt()}. Right for handlers that pass
     * {@link Claim#downstreamKey()} to every system that they call, or whose effects may happen twice.
     */
    RERUN,

    /** The key is parked: no handler is called until an operator decides, through {@link ParkedKeys}. */
    PARK,

    /** The next delivery calls a {@link Reconciler} under its claim, before it calls the handler. */
    RECONCILE
}
