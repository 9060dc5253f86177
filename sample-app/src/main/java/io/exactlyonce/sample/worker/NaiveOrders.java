package io.exactlyonce.sample.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.operations.SqsTemplate;
import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.stereotype.Component;

/**
 * The incident's worker. The handler checks whether the order is processed, charges it, and then records it. The whole
 * handler lies between the check and the record, and nothing extends the visibility timeout in this time.
 */
@Component
@Profile("naive")
class NaiveOrders {

    private final Provider provider;
    private final SqsTemplate sqs;
    private final JdbcClient database;
    private final JdbcClient reads;
    private final String shipments;
    private final String worker;

    NaiveOrders(Provider provider, SqsTemplate sqs, JdbcClient database, OrdersProperties orders) {
        this.provider = provider;
        this.sqs = sqs;
        this.shipments = orders.shipments();
        this.database = database;
        this.reads = orders.replicaUrl() == null
                ? database
                : JdbcClient.create(new DriverManagerDataSource(orders.replicaUrl()));
        this.worker = orders.worker();
    }

    @SqsListener(queueNames = "${orders.queue}", id = "naive-orders")
    void fulfil(Order order) {
        Stopwatch stopwatch = Stopwatch.start();
        if (isProcessed(order)) {
            return;
        }
        String chargeId = provider.charge(order, null, false);
        sqs.send(shipments, new Shipment(order.orderId()));
        provider.sendConfirmation(order);
        markProcessed(order, chargeId, stopwatch.millis());
    }

    private boolean isProcessed(Order order) {
        return reads.sql("SELECT EXISTS (SELECT FROM fulfilment WHERE order_id = ?)")
                .param(order.orderId())
                .query(Boolean.class)
                .single();
    }

    private void markProcessed(Order order, String chargeId, long millis) {
        database.sql("INSERT INTO fulfilment (order_id, charge_id, worker, millis) VALUES (?, ?, ?, ?)")
                .params(order.orderId(), chargeId, worker, millis)
                .update();
    }
}
