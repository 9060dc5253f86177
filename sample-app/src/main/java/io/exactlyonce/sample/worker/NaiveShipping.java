package io.exactlyonce.sample.worker;

import io.awspring.cloud.sqs.annotation.SqsListener;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/** Ships orders once per message. Two messages of one order look like two orders. */
@Component
@Profile("naive")
class NaiveShipping {

    private final Provider provider;

    NaiveShipping(Provider provider) {
        this.provider = provider;
    }

    @SqsListener(queueNames = "${orders.shipments}", id = "naive-shipments")
    void ship(Shipment shipment) {
        provider.ship(shipment, null);
    }
}
