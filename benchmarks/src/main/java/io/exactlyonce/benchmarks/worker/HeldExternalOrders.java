package io.exactlyonce.benchmarks.worker;

import io.exactlyonce.ExactlyOnceListener;
import java.util.concurrent.CompletableFuture;

/** The starter renews the messages. */
class HeldExternalOrders {

    private final HeldWork work;

    HeldExternalOrders(HeldWork work) {
        this.work = work;
    }

    @ExactlyOnceListener(queueNames = "${bench.queue}", id = "orders", key = "#order.orderId")
    CompletableFuture<Void> handle(Order order) {
        return work.on(order);
    }
}
