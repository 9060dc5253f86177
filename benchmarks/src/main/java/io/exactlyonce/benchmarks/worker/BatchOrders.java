package io.exactlyonce.benchmarks.worker;

import io.exactlyonce.ExactlyOnceListener;
import java.util.List;

/** Handles all messages of a poll in one call. */
class BatchOrders {

    private final Work work;

    BatchOrders(Work work) {
        this.work = work;
    }

    @ExactlyOnceListener(queueNames = "${bench.queue}", id = "orders", key = "#payload.orderId")
    void handle(List<Order> orders) {
        work.on(orders);
    }
}
