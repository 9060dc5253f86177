package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;
import org.springframework.jdbc.core.JdbcTemplate;

/** Claim and completion in separate commits, on the application's pool. */
class TwoCommitOrders {

    private static final String CLAIM = """
            INSERT INTO order_claim (order_id, status, claimed_at) VALUES (?, 'HELD', now())
            ON CONFLICT (order_id) DO NOTHING
            """;
    private static final String COMPLETE =
            "UPDATE order_claim SET status = 'COMPLETED', completed_at = now() WHERE order_id = ?";

    private final Work work;
    private final JdbcTemplate database;

    TwoCommitOrders(Work work, JdbcTemplate database) {
        this.work = work;
        this.database = database;
    }

    @SqsListener(queueNames = "${bench.queue}", id = "orders")
    void handle(Order order) {
        if (database.update(CLAIM, order.orderId()) == 1) {
            work.on(order);
            database.update(COMPLETE, order.orderId());
        }
    }
}
