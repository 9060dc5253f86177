package io.exactlyonce;

/**
 * Policy for a key whose previous attempt ended without reporting an outcome: its process died, its claim was lost, its
 * timeout expired, or its listener was stopped. The effect of that attempt may or may not have happened. An attempt
 * that throws an exception of its own has reported an outcome, so this policy does not apply.
 */
public enum InDoubtPolicy {

    /**
     * The next delivery calls the handler again, and {@link Claim#isInDoubt()} returns true. Choose this policy if the
     * handler's effects may happen twice, or if the handler passes {@link Claim#downstreamKey()} to every system that
     * it calls.
     */
    RERUN,

    /** The key is parked: no handler is called for it until an operator decides, through {@link ParkedKeys}. */
    PARK,

    /** The next delivery claims the key, and calls a {@link Reconciler} before the handler. */
    RECONCILE
}
