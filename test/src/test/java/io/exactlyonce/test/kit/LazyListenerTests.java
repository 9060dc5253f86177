package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.test.kit.Till.Order;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Listeners that no other bean needs, in an application with lazy initialization. */
@ExactlyOnceTest(properties = "spring.main.lazy-initialization=true")
class LazyListenerTests {

    @Autowired
    private ExactlyOnceDriver driver;

    interface Handler {

        void handle(Order order);
    }

    static class Declared implements Handler {

        @Override
        @ExactlyOnceListener(queueNames = "declared", key = "#order.orderId")
        public void handle(Order order) {}
    }

    static class Hidden implements Handler {

        @Override
        @ExactlyOnceListener(queueNames = "hidden", key = "#order.orderId")
        public void handle(Order order) {}
    }

    static class Annotated {

        @ExactlyOnceListener(queueNames = "annotated", key = "#order.orderId")
        void handle(Order order) {}
    }

    static class Made {

        @ExactlyOnceListener(queueNames = "made", key = "#order.orderId")
        void handle(Order order) {}
    }

    static class MadeFactory implements FactoryBean<Made> {

        @Override
        public Made getObject() {
            return new Made();
        }

        @Override
        public Class<?> getObjectType() {
            return Made.class;
        }
    }

    @AutoConfigurationPackage
    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        Declared declared() {
            return new Declared();
        }

        @Bean
        Handler hidden() {
            return new Hidden();
        }

        @Bean
        @Lazy
        Annotated annotated() {
            return new Annotated();
        }

        @Bean
        MadeFactory made() {
            return new MadeFactory();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"declared", "hidden", "annotated", "made"})
    void lazyListenersStart(String queue) {
        assertThat(driver.deliver(TestMessage.ofPayload(new Order("A-1", 100)).to(queue)))
                .wasHandled();
    }
}
