package io.exactlyonce.benchmarks.worker;

import io.exactlyonce.ExactlyOnceListener;

/** The listener in the README. */
class ExternalOrders {

    private final Work work;

    ExternalOrders(Work work) {
        this.work = work;
    }

    @ExactlyOnceListener(queueNames = "${bench.queue}", id = "orders", key = "#order.orderId")
    void handle(Order order) {
        work.on(order);
    }
}
