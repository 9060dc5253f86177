package io.exactlyonce.sample.provider;

import java.util.HashSet;
import java.util.Set;

/**
 * Decides whether a crash explains a repeated request for a charge whose claim is in doubt. A crash explains it if the
 * worker that made the charge was killed, and another worker sends the request. One crash explains one further attempt,
 * so it counts once for each order. Any other repeat means that a handler ran although its key was held or completed.
 *
 * <p>The provider cannot see when a worker completes the key of an order that it has charged: the kill may come before
 * or after. The claim knows, so a request whose claim is not in doubt is never explained. Not thread-safe: the ledger's
 * lock guards this object.
 */
final class CrashEvidence {

    private final Set<String> killed = new HashSet<>();
    private final Set<String> explainedOrders = new HashSet<>();

    void killed(String worker) {
        killed.add(worker);
    }

    boolean explains(Charge first, String requester) {
        return !first.worker().equals(requester)
                && killed.contains(first.worker())
                && explainedOrders.add(first.orderId());
    }
}
