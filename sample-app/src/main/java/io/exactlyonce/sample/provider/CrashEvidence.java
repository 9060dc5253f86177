package io.exactlyonce.sample.provider;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Decides whether a crash explains that a charge was asked for again. It does if the worker that made the charge was
 * killed before, with the order in its hands, and another worker asks; and it does so once for each order, since one
 * crash makes one more attempt. Anything else means that a handler ran although its key was held or completed.
 *
 * <p>An order is in a worker's hands from its charge until its confirmation was answered {@link #SETTLING} ago: the
 * record, the completion and the delete follow that answer, unseen from here. Not thread-safe; the ledger's lock guards
 * it.
 */
final class CrashEvidence {

    /** Recording and completing take milliseconds; a busy machine may make them take longer. */
    static final Duration SETTLING = Duration.ofSeconds(1);

    private final LongSupplier nanoClock;
    private final Map<String, Long> killedAt = new HashMap<>();
    private final Map<Run, Long> answeredAt = new HashMap<>();
    private final Set<String> explainedOrders = new HashSet<>();

    CrashEvidence(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    void answered(String orderId, String worker) {
        answeredAt.put(new Run(orderId, worker), nanoClock.getAsLong());
    }

    void killed(String worker) {
        killedAt.put(worker, nanoClock.getAsLong());
    }

    boolean explains(Charge first, String requester) {
        return !first.worker().equals(requester)
                && diedWith(first.orderId(), first.worker())
                && explainedOrders.add(first.orderId());
    }

    private boolean diedWith(String orderId, String worker) {
        Long killed = killedAt.get(worker);
        Long answered = answeredAt.get(new Run(orderId, worker));
        return killed != null && (answered == null || killed - answered <= SETTLING.toNanos());
    }

    private record Run(String orderId, String worker) {}
}
