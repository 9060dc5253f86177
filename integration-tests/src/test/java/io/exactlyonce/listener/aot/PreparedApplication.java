package io.exactlyonce.listener.aot;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** An application that is prepared ahead of time, and then started. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(PreparedApplication.Orders.class)
public class PreparedApplication {

    record Order(Customer customer) {}

    record Customer(String name) {}

    record Receipt(String customer, int attempt) {}

    static class Orders {

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order.customer.name")
        Receipt fulfil(Order order, Claim claim) {
            return new Receipt(order.customer().name(), claim.attempt());
        }
    }

    /** Starts it. */
    public static void main(String[] arguments) {
        SpringApplication.run(PreparedApplication.class, arguments);
    }
}
