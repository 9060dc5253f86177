package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionOperations;

/** A hand-written inbox: the key and the work in one transaction of the application's pool. */
class InboxOrders {

    private static final String REMEMBER = "INSERT INTO inbox (order_id) VALUES (?) ON CONFLICT (order_id) DO NOTHING";

    private final Work work;
    private final JdbcTemplate database;
    private final TransactionOperations transactions;

    InboxOrders(Work work, JdbcTemplate database, TransactionOperations transactions) {
        this.work = work;
        this.database = database;
        this.transactions = transactions;
    }

    @SqsListener(queueNames = "${bench.queue}", id = "orders")
    void handle(Order order) {
        transactions.executeWithoutResult(transaction -> {
            if (database.update(REMEMBER, order.orderId()) == 1) {
                work.on(order);
            }
        });
    }
}
