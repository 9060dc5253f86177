package io.exactlyonce.sample.live;

import io.exactlyonce.sample.provider.ProviderObserver;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/** The live state of one side's provider: which worker handles which order, and which orders were charged again. */
final class Till implements ProviderObserver {

    private final String side;
    private final Journal journal;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<Running> running = new ArrayList<>();
    private final Map<String, Set<String>> chargesOfOrders = new HashMap<>();
    private final Map<String, Set<String>> shipmentsOfOrders = new HashMap<>();
    private long charges;
    private long honoured;

    private record Running(String orderId, String worker, double since) {}

    Till(String side, Journal journal) {
        this.side = side;
        this.journal = journal;
    }

    @Override
    public void charged(String orderId, String worker, String chargeId) {
        if (OrderStream.isWarmUp(orderId)) {
            return;
        }
        lock.lock();
        try {
            Set<String> ofOrder = chargesOfOrders.computeIfAbsent(orderId, order -> new HashSet<>());
            boolean isTaken = ofOrder.add(chargeId);
            charges += isTaken ? 1 : 0;
            honoured += isTaken ? 0 : 1;
            journal.note(side, !isTaken ? "honoured" : ofOrder.size() > 1 ? "duplicate" : "charged", orderId);
            running.add(new Running(orderId, worker, journal.second()));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void shipped(String orderId, String shipmentId) {
        if (OrderStream.isWarmUp(orderId)) {
            return;
        }
        lock.lock();
        try {
            shipmentsOfOrders.computeIfAbsent(orderId, order -> new HashSet<>()).add(shipmentId);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void confirmationRequested(String orderId, String worker) {
        // The worker has handled the order since the charge.
    }

    /**
     * Removes the oldest handler of an order on a worker. All handlers of the order wait for the same time, so the
     * oldest is answered first.
     */
    @Override
    public void confirmationAnswered(String orderId, String worker) {
        lock.lock();
        try {
            Iterator<Running> each = running.iterator();
            while (each.hasNext()) {
                Running one = each.next();
                if (one.orderId().equals(orderId) && one.worker().equals(worker)) {
                    each.remove();
                    return;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Forgets the orders of a worker that was killed. */
    void dropped(String worker) {
        lock.lock();
        try {
            running.removeIf(one -> one.worker().equals(worker));
        } finally {
            lock.unlock();
        }
    }

    /** Returns how often an order was charged. */
    int chargesOf(String order) {
        lock.lock();
        try {
            return chargesOfOrders.getOrDefault(order, Set.of()).size();
        } finally {
            lock.unlock();
        }
    }

    Takings takings() {
        lock.lock();
        try {
            long shippedTwice = shipmentsOfOrders.values().stream()
                    .filter(shipments -> shipments.size() > 1)
                    .count();
            return new Takings(chargesOfOrders.size(), charges, honoured, shippedTwice);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the orders that workers handle, the oldest first. */
    List<InHand> inHand() {
        double now = journal.second();
        lock.lock();
        try {
            return running.stream()
                    .map(one -> new InHand(
                            one.orderId(),
                            one.worker(),
                            now - one.since(),
                            chargesOfOrders
                                    .getOrDefault(one.orderId(), Set.of())
                                    .size()))
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    /**
     * An order that a worker handles: charged, and not confirmed yet.
     *
     * @param seconds seconds since the charge
     * @param charges how often all workers charged the order
     */
    record InHand(String order, String worker, double seconds, int charges) {}

    /**
     * The totals of one side's provider.
     *
     * @param orders the number of charged orders
     * @param charges the number of charges
     * @param honoured the number of charges that an idempotency key prevented
     * @param shippedTwice the number of orders that were shipped more than once
     */
    record Takings(long orders, long charges, long honoured, long shippedTwice) {}
}
