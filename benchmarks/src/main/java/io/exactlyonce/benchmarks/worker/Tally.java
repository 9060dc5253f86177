package io.exactlyonce.benchmarks.worker;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Counts how often each order was handled. */
class Tally {

    private volatile AtomicIntegerArray times = new AtomicIntegerArray(0);

    void begin(int orders) {
        times = new AtomicIntegerArray(orders);
    }

    void handled(Order order) {
        times.incrementAndGet(order.number());
    }

    /** Returns the number of handler runs beyond one per order. */
    long duplicates() {
        return sum(handled -> Math.max(0, handled - 1));
    }

    /** Returns the number of orders that were never handled. */
    long losses() {
        return sum(handled -> handled == 0 ? 1 : 0);
    }

    private long sum(IntUnaryOperator fault) {
        return IntStream.range(0, times.length()).map(times::get).map(fault).sum();
    }
}
