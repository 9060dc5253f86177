package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;
import java.util.concurrent.CompletableFuture;

/** Needs a visibility timeout that is longer than its handler. */
class HeldPlainOrders {

    private final HeldWork work;

    HeldPlainOrders(HeldWork work) {
        this.work = work;
    }

    @SqsListener(queueNames = "${bench.queue}", id = "orders")
    CompletableFuture<Void> handle(Order order) {
        return work.on(order);
    }
}
