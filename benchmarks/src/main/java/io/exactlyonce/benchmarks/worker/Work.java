package io.exactlyonce.benchmarks.worker;

import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;

/** The work of every contestant's handler: nothing, or one row. Each run is counted. */
class Work {

    private static final String INSERT = "INSERT INTO effect (order_id, amount) VALUES (?, ?)";

    private final Tally tally;
    private final JdbcTemplate database;
    private final boolean writes;

    Work(Tally tally, JdbcTemplate database, @Value("${bench.writes:false}") boolean writes) {
        this.tally = tally;
        this.database = database;
        this.writes = writes;
    }

    void on(Order order) {
        if (writes) {
            database.update(INSERT, order.orderId(), order.amount());
        }
        tally.handled(order);
    }

    /** Writes the rows of a list in one round trip. */
    void on(List<Order> orders) {
        if (writes) {
            database.batchUpdate(
                    INSERT,
                    orders.stream()
                            .map(order -> new Object[] {order.orderId(), order.amount()})
                            .toList());
        }
        orders.forEach(tally::handled);
    }
}
