package io.exactlyonce.benchmarks.worker;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import java.util.List;

/** All claims, the work and all completions of a poll in one transaction of the application's pool. */
class DatabaseBatchOrders {

    private final Work work;

    DatabaseBatchOrders(Work work) {
        this.work = work;
    }

    @ExactlyOnceListener(
            queueNames = "${bench.queue}",
            id = "orders",
            key = "#payload.orderId",
            effects = Effects.DATABASE)
    void handle(List<Order> orders) {
        work.on(orders);
    }
}
