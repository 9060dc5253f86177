package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Tests keys from attributes with reserved names, from beans, from payloads whose type a superclass leaves open, and
 * from numbers.
 */
@ExactlyOnceTest
@ExtendWith(OutputCaptureExtension.class)
class KeyKindsTests {

    record Order(String orderId) {}

    static class Keys {

        public String of(Order order) {
            return "key-" + order.orderId();
        }
    }

    abstract static class Handlers<T> {

        @ExactlyOnceListener(queueNames = "generic", key = "#payload.orderId")
        public void handle(T order, Claim claim) {
            record(claim);
        }

        abstract void record(Claim claim);
    }

    static class Listeners extends Handlers<Order> {

        private final List<String> keys = new CopyOnWriteArrayList<>();

        List<String> keys() {
            List<String> all = List.copyOf(keys);
            keys.clear();
            return all;
        }

        @Override
        void record(Claim claim) {
            keys.add(claim.key());
        }

        @ExactlyOnceListener(
                queueNames = "attributes",
                key = "#headers['Sqs_SourceData'].messageAttributes()['id'].stringValue()")
        void attributes(String body, Claim claim) {
            record(claim);
        }

        @ExactlyOnceListener(queueNames = "beans", key = "@keys.of(#order)")
        void beans(Order order, Claim claim) {
            record(claim);
        }

        @ExactlyOnceListener(queueNames = "numbers", key = "#order['id']")
        void numbers(Map<String, Object> order, Claim claim) {
            record(claim);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Listeners.class)
    static class Application {

        @Bean
        Keys keys() {
            return new Keys();
        }
    }

    @Autowired
    private ExactlyOnceDriver driver;

    @Autowired
    private Listeners listeners;

    /** Spring stores its own value under the name {@code id}. */
    @Test
    void attributeOfAReservedNameIsTheKeyOfTwoMessages() {
        TestMessage message = TestMessage.ofBody("body").header("id", "A-1").to("attributes");

        assertThat(driver.deliver(message)).wasHandled();
        assertThat(driver.deliver(TestMessage.ofBody("body").header("id", "A-1").to("attributes")))
                .wasSuppressed();
        assertThat(listeners.keys()).containsExactly("A-1");
    }

    @Test
    void beanMakesTheKey() {
        assertThat(driver.deliver(TestMessage.ofPayload(new Order("B-1")).to("beans")))
                .wasHandled();
        assertThat(driver.deliver(TestMessage.ofPayload(new Order("B-1")).to("beans")))
                .wasSuppressed();
        assertThat(listeners.keys()).containsExactly("key-B-1");
    }

    @Test
    void payloadIsOfTheTypeThatTheBeansClassNames() {
        assertThat(driver.deliver(TestMessage.ofPayload(new Order("G-1")).to("generic")))
                .wasHandled();
        assertThat(driver.deliver(TestMessage.ofPayload(new Order("G-1")).to("generic")))
                .wasSuppressed();
        assertThat(listeners.keys()).containsExactly("G-1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e400", "1e500", "0.1", "0.10000000000000000555", "1.0"})
    void roundedNumberIsNoKey(String number, CapturedOutput output) {
        Delivered delivered = driver.deliver(
                TestMessage.ofBody("{\"id\":%s}".formatted(number)).to("numbers"));

        assertThat(delivered).wasReturned().didNotReachItsHandler();
        assertThat(output).contains("is a java.lang.Double, whose text is rounded", "send text or an integer");
    }

    @ParameterizedTest
    @ValueSource(strings = {"7", "9007199254740993", "92233720368547758070"})
    void integerIsAKey(String number) {
        assertThat(driver.deliver(
                        TestMessage.ofBody("{\"id\":%s}".formatted(number)).to("numbers")))
                .wasHandled();
        assertThat(listeners.keys()).containsExactly(number);
    }
}
