package io.exactlyonce;

/**
 * Finds out what an abandoned attempt has done, for listeners with {@link InDoubtPolicy#RECONCILE}: for example by
 * asking the payment provider for the charge that was made under {@link Claim#downstreamKey()}.
 *
 * <p>It is asked before the handler is, under the same claim and on the same thread: window and lease are renewed
 * meanwhile, {@link Claim#ensureHeld()} works, and the thread is interrupted when the claim is lost or the listener's
 * timeout is over, which counts for both together; then the handler is not called, and the next attempt asks again.
 * What it throws is a failure like a handler's: the message is returned with backoff, and the key stays in doubt.
 *
 * <p>It may be asked again for the same key, since it may be abandoned, too: it should only look.
 */
@FunctionalInterface
public interface Reconciler {

    /**
     * Decides what is to be done.
     *
     * @param listener id of the listener
     * @param scope the key's namespace
     * @param claim the claim on the key that is in doubt
     * @throws Exception if it cannot find out
     */
    Reconciliation reconcile(String listener, String scope, Claim claim) throws Exception;
}
