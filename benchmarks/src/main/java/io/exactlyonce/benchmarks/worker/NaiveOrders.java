package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;
import org.springframework.jdbc.core.JdbcTemplate;

/** The incident's listener: between its check and its write, another worker can check too. */
class NaiveOrders {

    private static final String LOOK = "SELECT count(*) FROM processed WHERE order_id = ?";
    private static final String WRITE = "INSERT INTO processed (order_id, processed_at) VALUES (?, now())";

    private final Work work;
    private final JdbcTemplate database;

    NaiveOrders(Work work, JdbcTemplate database) {
        this.work = work;
        this.database = database;
    }

    @SqsListener(queueNames = "${bench.queue}", id = "orders")
    void handle(Order order) {
        Integer found = database.queryForObject(LOOK, Integer.class, order.orderId());
        if (found == null || found == 0) {
            work.on(order);
            database.update(WRITE, order.orderId());
        }
    }
}
