package shop;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import org.springframework.stereotype.Component;

record Order(String orderId) {}

@Component
class Fulfilment {

    @ExactlyOnceListener(id = "fulfilment", queueNames = "orders", key = "#order.orderId")
    void fulfil(Order order, Claim claim) {
        System.out.println("Charging " + order.orderId() + " with key " + claim.downstreamKey());
    }
}
