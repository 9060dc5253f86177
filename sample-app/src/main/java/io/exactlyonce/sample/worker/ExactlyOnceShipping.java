package io.exactlyonce.sample.worker;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/** Ships orders. The listener names no key, so it claims the follow-up key that the message carries. */
@Component
@Profile("exactly-once")
class ExactlyOnceShipping {

    private final Provider provider;

    ExactlyOnceShipping(Provider provider) {
        this.provider = provider;
    }

    @ExactlyOnceListener(queueNames = "${orders.shipments}", id = "shipments")
    void ship(Shipment shipment, Claim claim) {
        claim.ensureHeld();
        provider.ship(shipment, claim.downstreamKey());
    }
}
