package io.exactlyonce.followup.ordered;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import org.springframework.stereotype.Component;

record Order(String orderId, String customerId) {}

record Shipment(String orderId) {}

@Component
class Fulfilment {

    private final SqsTemplate sqs;

    Fulfilment(SqsTemplate sqs) {
        this.sqs = sqs;
    }

    @ExactlyOnceListener(id = "in-order", queueNames = "exactly-once-it-in-order", key = "#order.orderId")
    void fulfil(Order order, Claim claim) {
        sqs.send(to -> to.queue("exactly-once-it-shipments.fifo")
                .payload(new Shipment(order.orderId()))
                .messageGroupId(order.customerId())
                .headers(claim.followUp("shipped").fifoHeaders()));
    }
}
