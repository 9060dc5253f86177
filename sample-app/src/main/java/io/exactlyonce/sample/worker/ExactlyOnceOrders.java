package io.exactlyonce.sample.worker;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The same worker with this library. The handler does not look for an earlier run, because the order's key is claimed
 * before the handler is called. The claim's {@code downstreamKey()} covers the one case that a claim cannot: a crash
 * after the charge and before its record.
 */
@Component
@Profile("exactly-once")
class ExactlyOnceOrders {

    private static final Logger log = LoggerFactory.getLogger(ExactlyOnceOrders.class);

    private final Provider provider;
    private final SqsTemplate sqs;
    private final JdbcClient database;
    private final String shipments;
    private final String worker;

    ExactlyOnceOrders(Provider provider, SqsTemplate sqs, JdbcClient database, OrdersProperties orders) {
        this.provider = provider;
        this.sqs = sqs;
        this.shipments = orders.shipments();
        this.database = database;
        this.worker = orders.worker();
    }

    @ExactlyOnceListener(queueNames = "${orders.queue}", id = "orders", key = "#order.orderId")
    void fulfil(Order order, Claim claim) {
        Stopwatch stopwatch = Stopwatch.start();
        if (claim.isInDoubt()) {
            log.warn("{}: attempt {} after a crash; charging with the same key again", worker, claim.attempt());
        }
        claim.ensureHeld();
        String chargeId = provider.charge(order, claim.downstreamKey(), claim.isInDoubt());
        sqs.send(to -> to.queue(shipments)
                .payload(new Shipment(order.orderId()))
                .headers(claim.followUp("shipped").headers()));
        provider.sendConfirmation(order);
        record(order, chargeId, stopwatch.millis());
    }

    /** Records an order. Does nothing if an attempt before a crash already recorded it. */
    private void record(Order order, String chargeId, long millis) {
        database.sql("""
                        INSERT INTO fulfilment (order_id, charge_id, worker, millis) VALUES (?, ?, ?, ?)
                        ON CONFLICT (order_id) DO NOTHING
                        """).params(order.orderId(), chargeId, worker, millis).update();
    }
}
