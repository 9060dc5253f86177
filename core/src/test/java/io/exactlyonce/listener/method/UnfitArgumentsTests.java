package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.CapturedLog;
import java.lang.reflect.Method;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessagingException;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.validation.Errors;
import org.springframework.validation.Validator;
import org.springframework.validation.annotation.Validated;

/** Tests arguments that Spring cannot create from a message. Spring's exceptions would quote the message. */
class UnfitArgumentsTests {

    static class Handlers {

        @ExactlyOnceListener("orders")
        void header(@Header("tenant") int tenant) {}

        @ExactlyOnceListener("orders")
        void absent(@Header("absent") String absent) {}

        @ExactlyOnceListener("orders")
        void payload(Integer payload) {}

        @ExactlyOnceListener("orders")
        void validated(@Validated @Payload Order order) {}
    }

    record Order(Map<String, Item> items) {}

    record Item(@Nullable String name) {}

    /** Reports a missing name for each item. */
    private static final class NameValidator implements Validator {

        @Override
        public boolean supports(Class<?> type) {
            return true;
        }

        @Override
        public void validate(Object target, Errors errors) {
            ((Order) target)
                    .items()
                    .keySet()
                    .forEach(key -> errors.rejectValue("items[%s].name".formatted(key), "NotNull"));
        }
    }

    private final Message<String> message = ListenerRig.attach(
            ListenerRig.received(), ListenerRig.message(Map.of("tenant", "secret-4111\nFORGED line")));

    private static InvocableHandlerMethod handler(String name) {
        Method method = ListenerRig.method(Handlers.class, name);
        var factory = new DefaultMessageHandlerMethodFactory();
        factory.setValidator(new NameValidator());
        factory.afterPropertiesSet();
        var reader = ListenerRig.reader(new StaticListableBeanFactory(), ListenerRig.ENFORCED);
        Object bean = ListenerRig.advised(new Handlers());
        var listener = ListenerRig.read(reader, bean, Handlers.class, name);
        return new DeliveryHandlerMethod(factory.createInvocableHandlerMethod(bean, method), listener);
    }

    @ParameterizedTest
    @CsvSource({
        "header, java.lang.NumberFormatException",
        "absent, the header 'absent' is missing",
        "payload, java.lang.NumberFormatException"
    })
    void failureHasMessageIdMethodAndReasonAndNothingElseOfTheMessage(String name, String reason) {
        try (CapturedLog log = new CapturedLog(DeliveryHandlerMethod.class)) {
            assertThatThrownBy(() -> handler(name).invoke(message))
                    .isInstanceOf(MessagingException.class)
                    .hasNoCause()
                    .satisfies(failure -> assertThat(failure.toString())
                            .contains("message-id", "Handlers." + name, reason, "send what it takes")
                            .doesNotContain("4111", "FORGED", "payload="));

            assertThat(log.text())
                    .contains(
                            "Why message message-id", "at io.exactlyonce.listener.method.DeliveryHandlerMethod.invoke")
                    .doesNotContain("4111", "FORGED", "payload=", "handle,");
        }
    }

    /**
     * Some of these keys make Spring look up a property that does not exist. Spring then throws a different exception
     * than for other invalid payloads.
     */
    @ParameterizedTest
    @ValueSource(strings = {"4111", "a]4111", "4111].b[\nFORGED", "a[4111", "a].name.b[4111"})
    void invalidPayloadShowsNoKeyThatItsSenderChose(String key) {
        Order order = new Order(Map.of(key, new Item(null)));
        Message<Order> invalid = ListenerRig.attach(
                ListenerRig.received(), MessageBuilder.withPayload(order).build());

        assertThatThrownBy(() -> handler("validated").invoke(invalid))
                .isInstanceOf(MessagingException.class)
                .hasNoCause()
                .satisfies(failure -> assertThat(failure.toString())
                        .contains("message-id", "Handlers.validated")
                        .doesNotContain("4111", "FORGED"));
    }
}
