package io.exactlyonce.sample.provider;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Decides whether a crash explains a repeated request for a charge. A crash explains it if the worker that made the
 * charge was killed earlier, while it handled the order, and another worker sends the request. One crash explains one
 * further attempt, so it counts once for each order. Any other repeat means that a handler ran although its key was
 * held or completed.
 *
 * <p>A worker handles an order from the charge until {@link #SETTLING} after the answer to the confirmation. After this
 * answer, the worker records the order, completes the key and deletes the message, which the provider cannot see. Not
 * thread-safe: the ledger's lock guards this object.
 */
final class CrashEvidence {

    /** Recording and completing take milliseconds, or longer on a busy machine. */
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
