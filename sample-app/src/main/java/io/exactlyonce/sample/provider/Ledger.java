package io.exactlyonce.sample.provider;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * All charges of one side. Idempotency keys work as with real card providers: the first request with a key charges,
 * later requests get the same charge as their answer, and a key with another order is refused. The ledger notes for
 * each repeated request whether a crash explains it, because a key that prevents many charges hides that claims do not
 * work.
 *
 * <p>A crash explains a request whose claim is in doubt, if the worker that made the charge was killed, and another
 * worker sends the request. One crash explains one further attempt, so it counts once for each order. Any other repeat
 * means that a handler ran although its key was held or completed. The provider cannot see whether a worker was killed
 * before or after it completed the key, but the claim tells.
 */
final class Ledger {

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Charge> charges = new ArrayList<>();
    private final List<String> explained = new ArrayList<>();
    private final List<String> unexplained = new ArrayList<>();
    private final Map<String, Charge> byIdempotencyKey = new HashMap<>();
    private final Set<String> killed = new HashSet<>();

    /**
     * Charges an order, or returns the charge of an earlier request with this key.
     *
     * @param inDoubt whether the request says that an earlier attempt may have charged
     */
    Charge charge(String orderId, String worker, @Nullable String idempotencyKey, boolean inDoubt) {
        lock.lock();
        try {
            Charge first = idempotencyKey == null ? null : byIdempotencyKey.get(idempotencyKey);
            if (first != null) {
                return honour(first, orderId, worker, inDoubt);
            }
            Charge charge = new Charge("ch_" + (charges.size() + 1), orderId, worker);
            charges.add(charge);
            if (idempotencyKey != null) {
                byIdempotencyKey.put(idempotencyKey, charge);
            }
            return charge;
        } finally {
            lock.unlock();
        }
    }

    /** Notes that a worker is killed. */
    void killed(String worker) {
        lock.lock();
        try {
            killed.add(worker);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the figures so far, as an unchanging copy. */
    Statement statement() {
        lock.lock();
        try {
            return Statement.of(charges, explained, unexplained);
        } finally {
            lock.unlock();
        }
    }

    private Charge honour(Charge first, String orderId, String worker, boolean inDoubt) {
        if (!first.orderId().equals(orderId)) {
            throw new KeyReusedException(first.orderId(), orderId);
        }
        boolean byCrash = inDoubt
                && killed.contains(first.worker())
                && !first.worker().equals(worker)
                && !explained.contains(orderId);
        (byCrash ? explained : unexplained).add(orderId);
        return first;
    }
}
