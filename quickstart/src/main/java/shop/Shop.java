package shop;

import io.awspring.cloud.sqs.operations.SqsTemplate;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
public class Shop {

    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }
}

/** Sends an order to the queue. */
@RestController
class Checkout {

    private final SqsTemplate sqs;

    Checkout(SqsTemplate sqs) {
        this.sqs = sqs;
    }

    @PostMapping("/orders/{orderId}")
    void order(@PathVariable String orderId) {
        sqs.send("orders", new Order(orderId));
    }
}
