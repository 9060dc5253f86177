package io.exactlyonce;

/**
 * Finds out what an attempt in doubt has done, for listeners with {@link InDoubtPolicy#RECONCILE}: for example by
 * asking the payment provider for the charge that was made under {@link Claim#downstreamKey()}.
 *
 * <p>It is called before the handler, under the same claim and on the same thread. Visibility timeout and lease are
 * renewed meanwhile, and {@link Claim#ensureHeld()} works. The thread is interrupted if the claim is lost or the
 * listener's timeout expires, which covers both calls; then the handler is not called, and the next attempt reconciles
 * again. An exception counts as the handler's: the message is returned with backoff, and the key stays in doubt.
 *
 * <p>It may be called again for the same key, so it should only read.
 */
@FunctionalInterface
public interface Reconciler {

    /**
     * Decides what to do.
     *
     * @param listener id of the listener
     * @param scope the key's namespace
     * @param claim the claim on the key that is in doubt
     * @throws Exception if it cannot find out
     */
    Reconciliation reconcile(String listener, String scope, Claim claim) throws Exception;
}
