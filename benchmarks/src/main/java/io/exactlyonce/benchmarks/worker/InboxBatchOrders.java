package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionOperations;

/** The same inbox for all messages of a poll: all keys in one statement, in one transaction. */
class InboxBatchOrders {

    /** Remembers keys, and returns the new ones. */
    private static final String REMEMBER = """
            INSERT INTO inbox (order_id) SELECT unnest(?::text[]) ON CONFLICT (order_id) DO NOTHING RETURNING order_id
            """;

    private final Work work;
    private final JdbcTemplate database;
    private final TransactionOperations transactions;

    InboxBatchOrders(Work work, JdbcTemplate database, TransactionOperations transactions) {
        this.work = work;
        this.database = database;
        this.transactions = transactions;
    }

    @SqsListener(queueNames = "${bench.queue}", id = "orders")
    void handle(List<Order> orders) {
        Map<String, Order> byKey = new LinkedHashMap<>();
        // All batches use the same order. Otherwise, two batches with the same keys would wait for each other.
        orders.stream()
                .sorted(Comparator.comparing(Order::orderId))
                .forEach(order -> byKey.put(order.orderId(), order));
        transactions.executeWithoutResult(transaction -> {
            List<String> found = database.queryForList(
                    REMEMBER, String.class, (Object) byKey.keySet().toArray(String[]::new));
            byKey.keySet().retainAll(found);
            work.on(List.copyOf(byKey.values()));
        });
    }
}
