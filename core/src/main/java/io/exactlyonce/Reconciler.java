package io.exactlyonce;

import org.jspecify.annotations.Nullable;

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
 *
 * @param <R> the type of its listeners' results. A class that names it is checked at startup, and each result before it is stored
 */
@FunctionalInterface
public interface Reconciler<R extends @Nullable Object> {

    /**
     * Decides what to do.
     *
     * @param attempt the attempt whose key is in doubt
     * @throws Exception if it cannot find out
     */
    Reconciliation<R> reconcile(InDoubtAttempt attempt) throws Exception;
}
