package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.lang.reflect.Method;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessagingException;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/** Arguments that Spring cannot make of a message, whose exceptions quote it. */
class UnfitArgumentsTests {

    static class Handlers {

        void header(@Header("tenant") int tenant) {}

        void absent(@Header("absent") String absent) {}

        void payload(Integer payload) {}

        /** As its proxy does first of all. */
        void failing(String payload) {
            CurrentDeliveries.take();
            throw new MessagingException("the handler's own");
        }
    }

    private final Message<String> message = new ReceivedMessage(ListenerRig.delivery(), null, "", "body")
            .attachTo(ListenerRig.message(Map.of("tenant", "secret-4111\nFORGED line")), Map.of());

    private static InvocableHandlerMethod handler(String name) {
        Method method = ListenerRig.method(Handlers.class, name);
        var factory = new DefaultMessageHandlerMethodFactory();
        factory.afterPropertiesSet();
        var listener = new ListenerMethod(method, null, null, null, InDoubtPolicy.RERUN, null, (json, type) -> null);
        return new DeliveryHandlerMethod(factory.createInvocableHandlerMethod(new Handlers(), method), listener);
    }

    @ParameterizedTest
    @CsvSource({
        "header, the header 'tenant' cannot be converted to int",
        "absent, the header 'absent' is missing",
        "payload, java.lang.NumberFormatException"
    })
    void reasonNamesTheHeader(String name, String reason) {
        assertThatThrownBy(() -> handler(name).invoke(message)).hasMessageContaining(reason);
    }

    @ParameterizedTest
    @ValueSource(strings = {"header", "absent", "payload"})
    void debugSaysWhereItFailedAndShowsNothingOfTheMessage(String name) {
        try (CapturedLog log = new CapturedLog(UnfitArguments.class)) {
            assertThatThrownBy(() -> handler(name).invoke(message)).isInstanceOf(MessagingException.class);

            assertThat(log.text())
                    .contains(
                            "Why message message-id", "at io.exactlyonce.listener.method.DeliveryHandlerMethod.invoke")
                    .doesNotContain("4111", "FORGED", "payload=", "handle,");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"header", "absent", "payload"})
    void failureSaysWhichMessageAndMethodAndShowsNothingOfTheMessage(String name) {
        assertThatThrownBy(() -> handler(name).invoke(message))
                .isInstanceOf(MessagingException.class)
                .hasNoCause()
                .satisfies(failure -> assertThat(failure.toString())
                        .contains("message-id", "Handlers." + name, "send what it takes")
                        .doesNotContain("4111", "FORGED", "payload="));
    }

    @Test
    void whatTheHandlerItselfThrowsIsLeftAlone() {
        assertThatThrownBy(() -> handler("failing").invoke(message)).hasMessage("the handler's own");
    }
}
