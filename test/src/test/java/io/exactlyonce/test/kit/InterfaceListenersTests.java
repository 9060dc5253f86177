package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.test.kit.Till.Order;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Listeners behind generic interfaces, where the application prefers proxies of interfaces. */
@ExactlyOnceTest(properties = "spring.aop.proxy-target-class=false")
class InterfaceListenersTests {

    interface Handler<I, O> {
        O handle(I input, Claim claim);
    }

    record Receipt(String orderId) {}

    static final List<Object> GOT = new CopyOnWriteArrayList<>();

    static class Single implements Handler<Order, Receipt> {
        @Override
        @ExactlyOnceListener(queueNames = "single", key = "#order.orderId")
        public Receipt handle(Order order, Claim claim) {
            GOT.add(order);
            return new Receipt(claim.key());
        }
    }

    interface BatchHandler<I> {
        void handle(List<I> inputs, List<Claim> claims);
    }

    static class Batch implements BatchHandler<Order> {
        @Override
        @ExactlyOnceListener(queueNames = "batch", key = "#payload.orderId")
        public void handle(List<Order> orders, List<Claim> claims) {
            GOT.add(orders.get(0));
        }
    }

    /** An application whose bean declaration shows only the interface. */
    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        Handler<Order, Receipt> single() {
            return new Single();
        }

        @Bean
        BatchHandler<Order> batch() {
            return new Batch();
        }
    }

    @Autowired
    private ExactlyOnceDriver driver;

    @Autowired
    private Handler<Order, Receipt> single;

    @Test
    void payloadsAreThoseOfTheBeansClass() {
        Order order = new Order("A-1", 100);

        for (String queue : List.of("single", "batch")) {
            GOT.clear();
            Delivered first = driver.deliver(TestMessage.ofPayload(order).to(queue));

            assertThat(first).wasHandled();
            assertThat(GOT).containsExactly(order);
        }
        assertThat(AopUtils.isCglibProxy(single)).isTrue();
    }
}
