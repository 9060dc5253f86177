package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;

/** Handles each message without protection. */
class PlainOrders {

    private final Work work;

    PlainOrders(Work work) {
        this.work = work;
    }

    @SqsListener(queueNames = "${bench.queue}", id = "orders")
    void handle(Order order) {
        work.on(order);
    }
}
