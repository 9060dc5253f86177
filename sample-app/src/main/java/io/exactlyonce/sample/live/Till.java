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

/** What one side's provider sees, as it happens: who has which order in hand, and which orders were charged again. */
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
        // It has been in the worker's hands since it was charged.
    }

    /** The oldest of a worker's handlers of an order is the one that is answered: all of them wait for the same time. */
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

    /** Forgets what a worker had in its hands when it was killed. */
    void dropped(String worker) {
        lock.lock();
        try {
            running.removeIf(one -> one.worker().equals(worker));
        } finally {
            lock.unlock();
        }
    }

    /** Returns how often money was taken for an order. */
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

    /** Returns what workers have in their hands, the oldest first. */
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
     * An order in a worker's hands: charged, and not confirmed yet.
     *
     * @param seconds since when
     * @param charges how often it was charged, by all workers
     */
    record InHand(String order, String worker, double seconds, int charges) {}

    /**
     * What one side's provider took.
     *
     * @param orders how many orders were charged
     * @param charges how often money was taken
     * @param honoured how often an idempotency key kept it from being taken again
     * @param shippedTwice how many orders were shipped more than once
     */
    record Takings(long orders, long charges, long honoured, long shippedTwice) {}
}
