package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/**
 * Finds out what an attempt in doubt has done, for listeners with {@link InDoubtPolicy#RECONCILE}. For example, a
 * reconciler queries the payment provider for the charge that was made under {@link Claim#downstreamKey()}.
 *
 * <p>The reconciler is called before the handler, under the same claim and on the same thread. While it runs,
 * visibility timeout and lease are renewed, and {@link Claim#ensureHeld()} works.
 *
 * <p>The thread is interrupted if the claim is lost, the listener's timeout expires or the listener stops. One timeout
 * covers the reconciler and the handler together. After an interrupt, the handler is not called. If the reconciler
 * nevertheless returns {@link Reconciliation#done} or {@link Reconciliation#park}, the library records this decision
 * unless another worker has taken the key over. Otherwise the next attempt reconciles again.
 *
 * <p>If the reconciler throws an exception, the handler is not called, the message is returned with backoff, and the
 * key stays in doubt.
 *
 * <p>A reconciler may be called several times for the same key, so it should only read.
 *
 * @param <R> the type of the listener's results. If the reconciler's class names this type, startup checks that it fits
 *     the listener. Each result is checked before it is stored
 */
@FunctionalInterface
public interface Reconciler<R extends @Nullable Object> {

    /**
     * Decides whether the effect of the earlier attempt has happened.
     *
     * @param attempt the attempt whose key is in doubt
     * @throws Exception if the reconciler cannot find out
     */
    Reconciliation<R> reconcile(InDoubtAttempt attempt) throws Exception;
}
