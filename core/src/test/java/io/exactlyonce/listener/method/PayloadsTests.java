package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.listener.message.PayloadType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.converter.MessageConverter;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Payload;

class PayloadsTests {

    record Order(String orderId) {}

    record Envelope<T>(T data) {}

    record Node<T extends Node<T>>(String id) {}

    static class Handler<T> {

        @ExactlyOnceListener("orders")
        void variable(T order) {}

        @ExactlyOnceListener("orders")
        void inEnvelope(Envelope<T> order) {}

        @ExactlyOnceListener("orders")
        void inArray(Message<T[]> order) {}
    }

    static class OrderHandler extends Handler<Order> {}

    static class Listeners {

        @ExactlyOnceListener("orders")
        void text(String order, Claim claim) {}

        @ExactlyOnceListener("orders")
        void named(Claim claim, @Header("a") String a, MessageHeaders headers, @Payload Envelope<Order> order) {}

        @ExactlyOnceListener("orders")
        void messages(List<Claim> claims, List<Message<Envelope<Order>>> orders) {}

        @ExactlyOnceListener("orders")
        void optional(Optional<? extends Envelope<Order>> order) {}

        @ExactlyOnceListener("orders")
        void map(Map<String, Order> orders) {}

        @ExactlyOnceListener("orders")
        void anything(Map<String, Object> order) {}

        @ExactlyOnceListener("orders")
        void raw(@SuppressWarnings("rawtypes") Envelope order) {}

        @ExactlyOnceListener("orders")
        void wildcard(Envelope<?> order) {}

        @ExactlyOnceListener("orders")
        <N extends Node<N>> void recursive(Envelope<N> order) {}

        @ExactlyOnceListener("orders")
        void array(Envelope<Order>[] orders) {}

        @ExactlyOnceListener("orders")
        void notification(SnsNotification<String> order) {}

        @ExactlyOnceListener("orders")
        void notificationOfAnOrder(SnsNotification<Order> order) {}

        @ExactlyOnceListener("orders")
        void notificationOfUnknown(SnsNotification<?> order) {}

        @ExactlyOnceListener("orders")
        void notificationsOfOrders(List<SnsNotification<Order>> orders) {}
    }

    private static @Nullable PayloadType payload(Object target, Class<?> declaring, String method) {
        return ListenerRig.settings(target, declaring, method).listener().payload();
    }

    private static String type(@Nullable PayloadType payload) {
        if (payload == null) {
            return "none";
        }
        MethodParameter full = payload.full();
        return (full == null ? payload.raw() : full.getGenericParameterType())
                .getTypeName()
                .replace(PayloadsTests.class.getName() + "$", "")
                .replaceAll("java\\.[a-z]+\\.", "");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "text         | String",
                "named        | Envelope<Order>",
                "messages     | Envelope<Order>",
                "optional     | Envelope<Order>",
                "map          | Map<String, Order>",
                "anything     | Map",
                "raw          | Envelope",
                "wildcard     | Envelope",
                "notification | none",
            })
    void payloadIsOfTheTypeThatTheParameterDeclares(String method, String type) {
        assertThat(type(payload(new Listeners(), Listeners.class, method))).isEqualTo(type);
    }

    @Test
    void typeVariablesAreThoseOfTheBeansClass() {
        assertThat(type(payload(new OrderHandler(), Handler.class, "variable"))).isEqualTo("Order");
        assertThat(type(payload(new OrderHandler(), Handler.class, "inEnvelope")))
                .isEqualTo("Envelope<Order>");
        assertThat(payload(new OrderHandler(), Handler.class, "inArray").raw()).isEqualTo(Order[].class);
        assertThat(payload(new Listeners(), Listeners.class, "array").full()).isNotNull();
        assertThat(payload(new Listeners(), Listeners.class, "recursive").raw()).isEqualTo(Envelope.class);
    }

    /** The bean is created as {@code new Handler<Order>()}, so its class leaves the type variable open. */
    @ParameterizedTest
    @CsvSource({"variable", "inEnvelope", "inArray"})
    void typeVariableThatTheBeansClassLeavesOpenIsRefused(String method) {
        assertThatThrownBy(() -> payload(new Handler<Order>(), Handler.class, method))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        refused -> assertThat(refused.remedy()).contains("declare a subclass that names it"))
                .hasMessageContaining("Handler." + method)
                .hasMessageContaining("does not name T");
    }

    @ParameterizedTest
    @CsvSource({"notificationOfAnOrder", "notificationOfUnknown", "notificationsOfOrders"})
    void notificationOfAnythingButTextIsRefused(String method) {
        assertThatThrownBy(() -> payload(new Listeners(), Listeners.class, method))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        refused -> assertThat(refused.remedy()).contains("@SnsNotificationMessage"))
                .hasMessageContaining("Listeners." + method);
    }

    /** The converter reads classes without type arguments, so the handler would receive maps. */
    @Test
    void typeArgumentsThatAConverterCannotReadAreRefused() {
        SqsMessagingMessageConverter converter = new SqsMessagingMessageConverter();
        converter.setPayloadMessageConverter(new MessageConverter() {
            @Override
            public Object fromMessage(Message<?> message, Class<?> target) {
                throw new UnsupportedOperationException();
            }

            @Override
            public Message<?> toMessage(Object payload, @Nullable MessageHeaders headers) {
                throw new UnsupportedOperationException();
            }
        });

        ListenerRig.settings(new Listeners(), "text").requireReadable(converter);
        ListenerRig.settings(new Listeners(), "anything").requireReadable(converter);
        assertThatThrownBy(() -> ListenerRig.settings(new Listeners(), "map").requireReadable(converter))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("Listeners.map: it takes java.util.Map<java.lang.String, ")
                .hasMessageContaining("reads classes without type arguments");
    }

    /** In observe mode, Spring Cloud AWS reads parts of the payload as maps, so the key may change in enforce mode. */
    @Test
    void reportOfAnObservedListenerHasThatItGetsMaps() {
        try (CapturedLog log = new CapturedLog(ContainerSettings.class)) {
            ListenerRig.observed(new Listeners(), "map").requireReadable(new SqsMessagingMessageConverter());
            ListenerRig.observed(new Listeners(), "text").requireReadable(new SqsMessagingMessageConverter());

            assertThat(log.text().lines().filter(line -> line.contains("only observed")))
                    .singleElement()
                    .asString()
                    .contains("Listeners.map", "Map<java.lang.String, ");
        }
    }

    /**
     * Spring Cloud AWS, or an inferrer of the application, infers a class for the payload. A class that is more general
     * than the declared type is ignored.
     */
    @Test
    void classThatTheContainerInfersIsTakenIfItIsMoreExact() {
        ContainerSettings settings = ListenerRig.settings(new OrderHandler(), Handler.class, "inEnvelope");

        for (Class<?> inferred : Set.of(Envelope.class, Object.class, Record.class, Optional.class, Claim.class)) {
            assertThat(conversion(settings, inferred)).isEqualTo("Envelope<Order>");
        }
        assertThat(conversion(settings, null)).isEqualTo("Envelope<Order>");
        assertThat(conversion(settings, Order.class)).isEqualTo("Order");
    }

    private static String conversion(ContainerSettings settings, @Nullable Class<?> inferred) {
        return type(settings.conversion(new SqsMessagingMessageConverter(), null, inferred)
                .payload());
    }
}
