package io.exactlyonce.followup.topic;

import io.awspring.cloud.sns.core.SnsNotification;
import io.awspring.cloud.sns.core.SnsTemplate;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import org.springframework.stereotype.Component;

record Order(String orderId) {}

record Shipment(String orderId) {}

@Component
class Fulfilment {

    private final SnsTemplate sns;

    Fulfilment(SnsTemplate sns) {
        this.sns = sns;
    }

    @ExactlyOnceListener(id = "topic", queueNames = "exactly-once-it-topic", key = "#order.orderId")
    void fulfil(Order order, Claim claim) {
        sns.sendNotification(
                "shipments",
                SnsNotification.builder(new Shipment(order.orderId()))
                        .headers(claim.followUp("shipped").headers())
                        .build());
    }
}
