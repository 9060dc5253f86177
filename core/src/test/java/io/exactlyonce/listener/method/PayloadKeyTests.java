package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.exactlyonce.ClaimMode;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.expression.KeyExpression;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.support.MessageBuilder;

/**
 * Tests keys of messages whose payload the poll did not convert. The variable {@code #payload} is then the handler's
 * argument.
 */
class PayloadKeyTests {

    record Order(String id) {}

    record Envelope<T>(T body) {}

    interface Handling<T> {

        void implemented(T order);
    }

    abstract static class Handlers<T> {

        @ExactlyOnceListener(queueNames = "orders", key = "#payload.id")
        public void inherited(T order) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#order.id")
        public void inheritedByName(T order) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload.idd")
        public void misspelt(T order) {}
    }

    static class Orders extends Handlers<Order> implements Handling<Order> {

        @Override
        @ExactlyOnceListener(queueNames = "orders", key = "#payload.id")
        public void implemented(Order order) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload.id")
        public void afterAHeader(@Header("tenant") String tenant, Order order) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload.id")
        public void whole(Message<Order> message) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload?.id")
        public void optional(@Payload(required = false) Optional<Order> order) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload.body.id")
        public void generic(Message<Envelope<Order>> message) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload.id")
        public void batch(List<Message<Order>> orders) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload")
        public void text(String body) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload")
        public void headersAlone(@Header("tenant") String tenant) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload.id")
        public void headersAndTenant(@Header("tenant") String payload) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload.messageId")
        public void notification(SnsNotification<String> notification) {}
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            inherited       | {"id":"A-1"}           | A-1
            inheritedByName | {"id":"A-1"}           | A-1
            batch           | {"id":"A-1"}           | A-1
            implemented     | {"id":"A-1"}           | A-1
            afterAHeader    | {"id":"A-1"}           | A-1
            whole           | {"id":"A-1"}           | A-1
            optional        | {"id":"A-1"}           | A-1
            text            | {"id":"A-1"}           | {"id":"A-1"}
            headersAlone    | {"id":"A-1"}           | {"id":"A-1"}
            notification    | {"Type":"Notification","MessageId":"7","Message":"published"} | 7
            """)
    void payloadIsWhatTheHandlerGets(String method, String json, String key) {
        Message<String> message =
                MessageBuilder.withPayload(json).setHeader("tenant", "acme").build();

        assertThat(key(method).evaluate(message)).isEqualTo(key);
    }

    @Test
    void payloadThatWasConvertedIsTakenAsItIs() {
        Message<Order> message = MessageBuilder.withPayload(new Order("A-2")).build();

        for (String method : List.of("inherited", "implemented", "whole", "batch")) {
            assertThat(key(method).evaluate(message)).as(method).isEqualTo("A-2");
        }
    }

    @ParameterizedTest
    @CsvSource({"misspelt, Order", "headersAndTenant, String"})
    void typeOfThePayloadIsThatOfTheBeansClass(String method, String type) {
        assertThatThrownBy(() -> key(method))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("reads the property")
                .hasMessageContaining(type + " does not have");
    }

    private static KeyExpression key(String name) {
        Class<?> declaring =
                name.startsWith("inherited") || name.startsWith("misspelt") ? Handlers.class : Orders.class;
        ContainerSettings settings = ContainerSettings.of(() -> ListenerRig.handlerMethods(ClaimMode.ENFORCE)
                .createInvocableHandlerMethod(ListenerRig.advised(new Orders()), ListenerRig.method(declaring, name)));
        return Objects.requireNonNull(settings.listener().key());
    }
}
