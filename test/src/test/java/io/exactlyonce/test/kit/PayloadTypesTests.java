package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.ExactlyOnceListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;

/**
 * Handlers get the types that their parameters declare, type arguments included, and key expressions read the same
 * payloads.
 */
@ExactlyOnceTest
class PayloadTypesTests {

    record Order(String orderId) {}

    record Envelope<T>(String id, T data) {}

    record Pair<A, B>(String id, A first, B second) {}

    static class Box<T> {
        public @Nullable String id;
        public @Nullable T data;
    }

    sealed interface Change<T> permits Replaced, Removed {}

    record Replaced<T>(String id, T data) implements Change<T> {}

    record Removed(String id) implements Change<Order> {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
    @JsonSubTypes(@JsonSubTypes.Type(value = Parcel.class, name = "parcel"))
    interface Shipment {
        String id();
    }

    record Parcel(String id, String label) implements Shipment {}

    /**
     * The arguments of handlers, in order. The class of each argument shows the type argument that the converter used.
     */
    static final List<Object> GOT = new CopyOnWriteArrayList<>();

    abstract static class Inherited<T> {

        @ExactlyOnceListener(queueNames = "inherited", key = "#payload.orderId")
        public void plain(T order) {
            GOT.add(order);
        }

        @ExactlyOnceListener(queueNames = "inherited-message", key = "#payload.orderId")
        public void message(Message<T> order) {
            GOT.add(order.getPayload());
        }

        @ExactlyOnceListener(queueNames = "inherited-envelope", key = "#payload.data.orderId")
        public void envelope(Envelope<? extends T> order) {
            GOT.add(order.data());
        }

        @ExactlyOnceListener(queueNames = "inherited-array", key = "#payload[0].id")
        public void array(Envelope<T>[] orders) {
            GOT.add(orders[0].data());
        }

        @ExactlyOnceListener(queueNames = "inherited-messages", key = "#payload.data.orderId")
        public void messages(List<Message<Envelope<T>>> orders) {
            GOT.add(orders.get(0).getPayload().data());
        }
    }

    static class Listeners extends Inherited<Order> {

        @ExactlyOnceListener(queueNames = "envelope", key = "#order.data.orderId")
        public void envelope(Envelope<Order> order, @Header("tenant") Optional<String> tenant) {
            GOT.add(order.data());
        }

        @ExactlyOnceListener(queueNames = "envelopes", key = "#payload.data.orderId")
        public void envelopes(List<Envelope<Order>> orders) {
            GOT.add(orders.get(0).data());
        }

        @ExactlyOnceListener(queueNames = "list", key = "#message.payload[0].orderId")
        public void list(Message<List<Order>> orders) {
            GOT.add(orders.getPayload().get(0));
        }

        @ExactlyOnceListener(queueNames = "map", key = "#orders['a'].orderId")
        public void map(Map<String, Order> orders) {
            GOT.add(orders.get("a"));
        }

        @ExactlyOnceListener(queueNames = "optional", key = "#payload?.orderId")
        public void optional(Optional<Order> order) {
            GOT.add(order.orElseThrow());
        }

        @ExactlyOnceListener(queueNames = "optional-envelope", key = "#payload?.data.orderId")
        public void optionalEnvelope(Optional<Envelope<Order>> order) {
            GOT.add(order.orElseThrow().data());
        }

        @ExactlyOnceListener(queueNames = "bean", key = "#payload.data.orderId")
        public void bean(Box<Order> order) {
            GOT.add(order.data);
        }

        @ExactlyOnceListener(queueNames = "deep", key = "#payload.second['x'][0].orderId")
        public void deep(Pair<Integer, Map<String, List<Order>>> order) {
            GOT.add(order.second().get("x").get(0));
        }

        @ExactlyOnceListener(queueNames = "bounded", key = "#payload.data.orderId")
        public <T extends Order> void bounded(Envelope<? super T> order) {
            GOT.add(order.data());
        }

        @ExactlyOnceListener(queueNames = "lists", key = "#payload[0].orderId")
        public void lists(List<List<Order>> orders) {
            GOT.add(orders.get(0).get(0));
        }

        @ExactlyOnceListener(queueNames = "untyped", key = "#payload.data['orderId']")
        public void untyped(Envelope<?> order) {
            GOT.add(order.data());
        }

        @ExactlyOnceListener(queueNames = "sealed", key = "#payload.id")
        public void named(Shipment shipment) {
            GOT.add(shipment);
        }

        @ExactlyOnceListener(queueNames = "sns", key = "#order.data.orderId")
        public void sns(@SnsNotificationMessage Envelope<Order> order) {
            GOT.add(order.data());
        }
    }

    @ExactlyOnceListener(queueNames = "events", key = "#payload.id")
    static class Events {

        @SqsHandler
        public void envelope(Envelope<Order> event) {
            GOT.add(event.data());
        }

        @SqsHandler
        public void change(Change<Order> event) {
            GOT.add(event instanceof Replaced<Order> replaced ? replaced.data() : event);
        }

        @SqsHandler
        public void shipment(Shipment event) {
            GOT.add(event);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Listeners.class, Events.class})
    static class Application {}

    @Autowired
    private ExactlyOnceDriver driver;

    @BeforeEach
    void forget() {
        GOT.clear();
    }

    private static final String ORDER = "{\"orderId\":\"A-1\"}";
    private static final String ENVELOPE = "{\"id\":\"E-1\",\"data\":" + ORDER + "}";

    static Stream<Arguments> payloadHasTheTypeThatItsHandlerDeclares() {
        return Stream.of(
                Arguments.of("inherited", ORDER),
                Arguments.of("inherited-message", ORDER),
                Arguments.of("inherited-envelope", ENVELOPE),
                Arguments.of("inherited-array", "[" + ENVELOPE + "]"),
                Arguments.of("inherited-messages", ENVELOPE),
                Arguments.of("envelope", ENVELOPE),
                Arguments.of("envelopes", ENVELOPE),
                Arguments.of("list", "[" + ORDER + "]"),
                Arguments.of("map", "{\"a\":" + ORDER + "}"),
                Arguments.of("optional", ORDER),
                Arguments.of("optional-envelope", ENVELOPE),
                Arguments.of("bean", ENVELOPE),
                Arguments.of("deep", "{\"id\":\"P-1\",\"first\":1,\"second\":{\"x\":[" + ORDER + "]}}"),
                Arguments.of("bounded", ENVELOPE),
                Arguments.of("lists", "[" + ORDER + "]"),
                Arguments.of(
                        "sns", "{\"Type\":\"Notification\",\"Message\":\"" + ENVELOPE.replace("\"", "\\\"") + "\"}"));
    }

    @ParameterizedTest
    @MethodSource
    void payloadHasTheTypeThatItsHandlerDeclares(String queue, String body) {
        Delivered first = driver.deliver(TestMessage.ofBody(body).to(queue));

        assertThat(first).wasHandled();
        assertThat(GOT).containsExactly(new Order("A-1"));
        assertThat(driver.deliver(TestMessage.ofBody(body).to(queue))).wasSuppressed();
    }

    @Test
    void typeArgumentThatIsAnythingIsAMap() {
        assertThat(driver.deliver(TestMessage.ofBody(ENVELOPE).to("untyped"))).wasHandled();

        assertThat(GOT).containsExactly(Map.of("orderId", "A-1"));
    }

    @Test
    void subtypeThatJsonNamesIsMade() {
        assertThat(driver.deliver(TestMessage.ofBody("{\"kind\":\"parcel\",\"id\":\"S-1\",\"label\":\"L\"}")
                        .to("sealed")))
                .wasHandled();

        assertThat(GOT).containsExactly(new Parcel("S-1", "L"));
    }

    private Delivered deliverNamed(String type, String body) {
        return driver.deliver(TestMessage.ofBody(body).to("events").header("JavaType", type));
    }

    @Test
    void senderOfAClassesMessagesNamesTheTypeAndTheHandlerItsArguments() {
        assertThat(deliverNamed(Envelope.class.getName(), ENVELOPE)).wasHandled();
        assertThat(deliverNamed(Replaced.class.getName(), "{\"id\":\"R-1\",\"data\":" + ORDER + "}"))
                .wasHandled();
        assertThat(deliverNamed(Removed.class.getName(), "{\"id\":\"R-2\"}")).wasHandled();
        assertThat(deliverNamed(Parcel.class.getName(), "{\"kind\":\"parcel\",\"id\":\"S-1\",\"label\":\"L\"}"))
                .wasHandled();

        assertThat(GOT)
                .isEqualTo(List.of(new Order("A-1"), new Order("A-1"), new Removed("R-2"), new Parcel("S-1", "L")));
    }

    /** The class that the sender names may be on the class path, and may fit a handler's parameter. */
    @ParameterizedTest
    @ValueSource(classes = {Order.class, ArrayList.class, Forged.class})
    void senderCannotNameAnyOtherClass(Class<?> type) {
        assertThat(deliverNamed(type.getName(), "{\"id\":\"F-1\"}"))
                .wasReturned()
                .didNotReachItsHandler();

        assertThat(Forged.made).isZero();
    }

    static class Forged implements Shipment {

        static int made;

        public Forged() {
            made++;
        }

        @Override
        public String id() {
            return "F-1";
        }
    }
}
