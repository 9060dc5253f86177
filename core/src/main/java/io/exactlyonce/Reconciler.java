package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/**
 * Finds out what an attempt in doubt has done, for listeners with {@link InDoubtPolicy#RECONCILE}. For example, it
 * queries the payment provider for the charge that was made under {@link Claim#downstreamKey()}.
 *
 * <p>It is called before the handler, under the same claim and on the same thread. Visibility timeout and lease are
 * renewed meanwhile, and {@link Claim#ensureHeld()} works.
 *
 * <p>The thread is interrupted if the claim is lost or the listener's timeout, which covers both calls, expires. Then
 * the handler is not called, and the next attempt reconciles again. An exception of the reconciler counts as one of the
 * handler: the message is returned with backoff, and the key stays in doubt.
 *
 * <p>It may be called again for the same key, so it should only read.
 *
 * @param <R> the type of its listeners' results. If a class names the type, startup checks it, and each result is
 *     checked before it is stored
 */
@FunctionalInterface
public interface Reconciler<R extends @Nullable Object> {

    /**
     * Decides what to do.
     *
     * @param attempt the attempt whose key is in doubt
     * @throws Exception if the reconciler cannot find out
     */
    Reconciliation<R> reconcile(InDoubtAttempt attempt) throws Exception;
}
