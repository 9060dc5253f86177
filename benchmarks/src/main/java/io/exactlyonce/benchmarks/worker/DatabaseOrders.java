package io.exactlyonce.benchmarks.worker;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;

/** Claim, work and completion in one transaction of the application's pool. */
class DatabaseOrders {

    private final Work work;

    DatabaseOrders(Work work) {
        this.work = work;
    }

    @ExactlyOnceListener(
            queueNames = "${bench.queue}",
            id = "orders",
            key = "#order.orderId",
            effects = Effects.DATABASE)
    void handle(Order order) {
        work.on(order);
    }
}
