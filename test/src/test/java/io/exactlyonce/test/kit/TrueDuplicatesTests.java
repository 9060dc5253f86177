package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.exactlyonce.ExactlyOnceListener;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Duplicates with different text: messages that a sender has formatted differently, and notifications that SNS delivers
 * again.
 */
@ExactlyOnceTest
class TrueDuplicatesTests {

    record Order(String orderId, int amount, String city) {}

    record Envelope(
            @JsonProperty("Message") String message,
            @JsonProperty("TopicArn") String topicArn) {}

    static class Listeners {

        @ExactlyOnceListener(queueNames = "orders", key = "#order.orderId")
        void orders(Order order) {}

        @ExactlyOnceListener(queueNames = "texts")
        void texts(String text) {}

        @ExactlyOnceListener(queueNames = "batches", key = "#payload.orderId")
        void batches(List<Order> orders) {}

        @ExactlyOnceListener(queueNames = "notifications.texts")
        void textOfANotification(String body) {}

        @ExactlyOnceListener(queueNames = "notifications.envelopes")
        void ownClass(Envelope envelope) {}

        @ExactlyOnceListener(queueNames = "notifications.maps")
        void map(Map<String, Object> envelope) {}

        @ExactlyOnceListener(queueNames = "notifications.parameters")
        void parameter(SnsNotification<String> notification) {}

        @ExactlyOnceListener(queueNames = "notifications.messages", key = "#order.orderId")
        void message(@SnsNotificationMessage Order order) {}
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Listeners.class)
    static class Application {}

    @Autowired
    private ExactlyOnceDriver driver;

    private static TestMessage message(String queue, String body) {
        return TestMessage.ofBody(body).to(queue).key("A-1");
    }

    /** One order in several layouts. */
    static List<String> layouts() {
        return List.of(
                "{\"amount\":3,\"city\":\"Orl\u00e9ans\",\"orderId\":\"A-1\"}",
                "{\"orderId\":\"A-1\", \"amount\":3,\"city\":\"Orl\u00e9ans\"}",
                "{\n  \"orderId\" : \"A-1\",\n  \"amount\" : 3,\n  \"city\" : \"Orl\u00e9ans\"\n}",
                "{\"orderId\":\"A-1\",\"amount\":3,\"city\":\"Orl\\u00e9ans\"}",
                "{\"orderId\":\"A-1\",\"amount\":3,\"city\":\"Orl\u00e9ans\"}\n");
    }

    @ParameterizedTest
    @MethodSource("layouts")
    void orderInAnotherLayoutIsADuplicate(String layout) {
        String order = "{\"orderId\":\"A-1\",\"amount\":3,\"city\":\"Orl\u00e9ans\"}";
        for (String queue : List.of("orders", "texts", "batches")) {
            assertThat(driver.deliver(message(queue, order))).wasHandled();

            assertThat(driver.deliver(message(queue, layout))).wasSuppressed();
        }
    }

    /** No converter of Spring Cloud AWS reads a text with a byte order mark into a class. */
    @Test
    void orderWithAByteOrderMarkIsADuplicate() {
        String order = layouts().get(0);

        assertThat(driver.deliver(message("texts", order))).wasHandled();
        assertThat(driver.deliver(message("texts", "\uFEFF" + order))).wasSuppressed();
    }

    @Test
    void otherOrderUnderTheSameKeyIsNoDuplicate() {
        assertThat(driver.deliver(message("orders", layouts().get(0)))).wasHandled();

        assertThat(driver.deliver(message("orders", layouts().get(1).replace('3', '4'))))
                .has(Outcome.MISMATCHED);
    }

    private static String notification(String message, String topic, int delivery) {
        return ("{\"Type\":\"Notification\",\"MessageId\":\"%d\",\"TopicArn\":\"arn:aws:sns:eu-west-1:1234:%s\",\"Message\":\"%s\","
                        + "\"Timestamp\":\"2026-11-27T10:00:0%d.000Z\",\"SignatureVersion\":\"1\",\"Signature\":\"s%d\"}")
                .formatted(delivery, topic, message.replace("\"", "\\\""), delivery, delivery);
    }

    @ParameterizedTest
    @ValueSource(strings = {"texts", "envelopes", "maps", "parameters", "messages"})
    void notificationIsADuplicateHoweverItsHandlerTakesIt(String queue) {
        String order = "{\"orderId\":\"A-1\",\"amount\":3}";
        String again = "{ \"amount\":3, \"orderId\":\"A-1\" }";
        String other = "{\"orderId\":\"A-1\",\"amount\":4}";
        String name = "notifications." + queue;

        assertThat(driver.deliver(message(name, notification(order, "orders", 1))))
                .wasHandled();

        assertThat(driver.deliver(message(name, notification(order, "orders", 2))))
                .wasSuppressed();
        assertThat(driver.deliver(message(name, notification(again, "orders", 3))))
                .wasSuppressed();
        assertThat(driver.deliver(message(name, notification(other, "orders", 4))))
                .has(Outcome.MISMATCHED);
        assertThat(driver.deliver(message(name, notification(order, "cancellations", 5))))
                .has(Outcome.MISMATCHED);
    }
}
