package io.exactlyonce.followup.external;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import org.springframework.stereotype.Component;

record Order(String orderId) {}

record Shipment(String orderId) {}

@Component
class Fulfilment {

    private final Payments payments;
    private final SqsTemplate sqs;

    Fulfilment(Payments payments, SqsTemplate sqs) {
        this.payments = payments;
        this.sqs = sqs;
    }

    @ExactlyOnceListener(id = "fulfilment", queueNames = "exactly-once-it-orders", key = "#order.orderId")
    void fulfil(Order order, Claim claim) {
        payments.charge(order.orderId(), claim.downstreamKey());
        sqs.send(to -> to.queue("exactly-once-it-shipments")
                .payload(new Shipment(order.orderId()))
                .headers(claim.followUp("shipped").headers()));
    }
}

@Component
class Shipping {

    private final Carrier carrier;

    Shipping(Carrier carrier) {
        this.carrier = carrier;
    }

    @ExactlyOnceListener(id = "shipping", queueNames = "exactly-once-it-shipments")
    void ship(Shipment shipment, Claim claim) {
        carrier.order(shipment.orderId(), claim.downstreamKey());
    }
}
