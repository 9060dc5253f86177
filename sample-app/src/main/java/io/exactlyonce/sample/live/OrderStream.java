package io.exactlyonce.sample.live;

import io.exactlyonce.sample.lab.Kind;
import io.exactlyonce.sample.lab.Queues;
import io.exactlyonce.sample.worker.Order;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

/** Sends the same orders to both sides. */
final class OrderStream {

    private static final int REMEMBERED = 240;
    private static final long CENTS = 1_999;
    private static final String WARM_UP = "warm-up-";

    private final Queues queues;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Order> recent = new ArrayDeque<>();
    private long sent;

    OrderStream(Queues queues) {
        this.queues = queues;
    }

    /** Sends some orders that do not count. */
    void warmUp(int round, int orders) {
        send(IntStream.range(0, orders)
                .mapToObj(i -> new Order("%s%d-%d".formatted(WARM_UP, round, i), CENTS))
                .toList());
    }

    static boolean isWarmUp(String orderId) {
        return orderId.startsWith(WARM_UP);
    }

    /** Sends a new order, and returns the number of orders so far. */
    long sendNext() {
        lock.lock();
        try {
            sent++;
            Order order = new Order("order-%04d".formatted(sent), CENTS);
            recent.addLast(order);
            if (recent.size() > REMEMBERED) {
                recent.removeFirst();
            }
            send(List.of(order));
            return sent;
        } finally {
            lock.unlock();
        }
    }

    /** Sends the last orders once more, and returns their number. */
    int sendAgain() {
        lock.lock();
        try {
            List<Order> again = List.copyOf(recent);
            send(again);
            return again.size();
        } finally {
            lock.unlock();
        }
    }

    private void send(List<Order> orders) {
        for (Kind kind : Kind.values()) {
            queues.send(kind, orders);
        }
    }
}
