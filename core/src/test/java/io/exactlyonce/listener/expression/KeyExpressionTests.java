package io.exactlyonce.listener.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.listener.Visibility;
import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.exactlyonce.Claim;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerRig;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.MethodParameter;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolver;
import org.springframework.messaging.support.MessageBuilder;

class KeyExpressionTests {

    record Customer(String email) {}

    record Order(String orderId, @Nullable Customer customer) {}

    static class Parcel {
        public String getNumber() {
            return "P-7";
        }
    }

    static final class Label {

        public final String number = "L-3";

        public String getText() {
            return "fragile";
        }
    }

    record Payment(String id) {}

    /** A record with the same components as {@link Payment}. The two types are unrelated. */
    record Refund(String id) {}

    public record Named(String id) {}

    record Tenant(String name) {}

    /** A resolver for the tenant that an interceptor bound to the thread. No key expression may call the resolver. */
    private static final class TenantResolver implements HandlerMethodArgumentResolver {

        @Override
        public boolean supportsParameter(MethodParameter parameter) {
            return parameter.getParameterType() == Tenant.class;
        }

        @Override
        public Object resolveArgument(MethodParameter parameter, Message<?> message) {
            throw new AssertionError("It is asked when the method is called");
        }
    }

    interface Handlers {
        void any(@Header(name = "value", required = false) Object value);

        void label(Label label);

        void claimed(Order order, Claim claim);

        void array(@Header("ids") String[] ids);

        void optional(@Header("order") Optional<Order> order);

        void order(Order order);

        void parcel(Parcel parcel);

        void text(String id, @Header("x-id") int count);

        void namedMessage(Order message, @Header("tenant") String headers);

        void namedPayload(@Header(required = false) String payload);

        void whole(Message<Order> orders);

        void notification(SnsNotification<String> event);

        void visible(String order, Visibility visibility);

        void tenant(Tenant tenant);

        void batch(List<Order> orders);

        void parcels(List<Message<Parcel>> payload, List<Claim> claims);
    }

    private static final Order ORDER = new Order("A-1", new Customer("a@example.org"));

    private static Message<?> message(Object payload) {
        return MessageBuilder.withPayload(payload)
                .copyHeaders(Map.of("tenant", "acme", "x-id", 42))
                .build();
    }

    /** Evaluates an expression on a message whose header {@code value} has the given value. */
    private static @Nullable Object ofValue(KeyExpression expression, Object value) {
        return expression.evaluate(
                MessageBuilder.withPayload("text").setHeader("value", value).build());
    }

    @ParameterizedTest
    @CsvSource({
        "#order.orderId, A-1",
        "#order.orderId(), A-1",
        "#order.customer.email, a@example.org",
        "#order?.customer?.email, a@example.org",
        "#order.orderId + '/' + #headers.tenant, A-1/acme",
        "#p0.orderId, A-1",
        "#a0.orderId, A-1",
        "#message.payload.orderId, A-1",
        "#payload.orderId, A-1",
        "#headers['tenant'], acme",
        "#headers.tenant, acme",
        "#headers['x-id'], 42",
        "#message.headers['tenant'], acme"
    })
    void expressionReadsArgumentsMessageAndHeaders(String expression, String expected) {
        Object value = parse(expression, "order").evaluate(message(ORDER));

        assertThat(value).hasToString(expected);
    }

    /** If none is read, the container does not request them from SQS. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            order        | #order.orderId                   | false
            batch        | #payload.orderId                 | false
            order        | #headers['tenant']               | true
            order        | 'x' + #message.headers.tenant    | true
            order        | #order.orderId + #headers.tenant | true
            namedMessage | #message.orderId                 | false
            namedMessage | #headers                         | true
            any          | #value                           | true
            """)
    void expressionTellsWhetherItReadsHeaders(String method, String expression, boolean readsHeaders) {
        assertThat(parse(expression, method).readsHeaders()).isEqualTo(readsHeaders);
    }

    /** The calling thread may have a class loader that does not know the application's classes. */
    @Test
    void classesAreFoundByTheListenersClassLoader() {
        Thread thread = Thread.currentThread();
        ClassLoader own = thread.getContextClassLoader();
        thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
        try {
            String here = KeyExpressionTests.class.getName();
            KeyExpression expression =
                    parse("T(" + here + ").prefixed(#order.orderId) + new " + here + "$Named('/7').id", "order");

            assertThat(expression.evaluate(message(ORDER))).isEqualTo("P-A-1/7");
        } finally {
            thread.setContextClassLoader(own);
        }
    }

    public static String prefixed(String id) {
        return "P-" + id;
    }

    @ParameterizedTest
    @ValueSource(strings = {"#headers.absent.length()", "#order.customer.email"})
    void fingerprintOfWhatIsNotThereIsNoMissingKey(String expression) {
        KeyExpression fingerprint = ListenerRig.fingerprint(expression, ListenerRig.method(Handlers.class, "order"));

        assertThatThrownBy(() -> fingerprint.evaluate(message(new Order("A-1", null))))
                .isExactlyInstanceOf(UnusableKeyException.class);
    }

    @Test
    void keyDoesNotDependOnWhatWasEvaluatedBefore() {
        KeyExpression sum = parse("#value.n + #value.k", "any");
        KeyExpression product = parse("#value.n * 1", "any");
        KeyExpression text = parse("#value.id", "any");
        for (int i = 0; i < 300; i++) {
            ofValue(sum, Map.of("n", i, "k", 7));
            ofValue(product, Map.of("n", i));
            ofValue(text, new Payment("p" + i));
        }

        assertThat(ofValue(sum, Map.of("n", 4_294_967_301L, "k", 7))).isEqualTo(4_294_967_308L);
        assertThat(ofValue(product, Map.of("n", 5.7))).isEqualTo(5.7);
        assertThat(ofValue(text, new Refund("r"))).isEqualTo("r");
        assertThat(ofValue(text, Map.of("id", "m"))).isEqualTo("m");
        assertThatThrownBy(() -> text.evaluate(message("without the header"))).isInstanceOf(UnusableKeyException.class);
    }

    @Test
    void argumentNamedLikeWhatIsAlwaysThereWins() {
        assertThat(parse("#message.orderId", "namedMessage").evaluate(message(ORDER)))
                .isEqualTo("A-1");
        assertThat(parse("#headers", "namedMessage").evaluate(message(ORDER))).isEqualTo("acme");
        assertThat(parse("#payload", "namedPayload").evaluate(message(ORDER))).isNull();
    }

    /** If the poll did not convert the payload, the method's own resolver converts it. */
    @Test
    void argumentIsWhatTheMethodIsGiven() {
        Message<?> json = message("{\"orderId\":\"A-1\"}");

        assertThat(parse("#order.orderId", "order").evaluate(json)).isEqualTo("A-1");
        assertThat(parse("#orders.payload.orderId + #orders.headers.tenant", "whole")
                        .evaluate(json))
                .isEqualTo("A-1acme");
        assertThat(parse("#payload.orderId", "batch").evaluate(json)).isEqualTo("A-1");
        assertThat(parse("#payload.orderId", "order").evaluate(json)).isEqualTo("A-1");
        assertThat(parse("#payload.orderId", "whole").evaluate(json)).isEqualTo("A-1");
    }

    @Test
    void argumentOfANotificationIsOutOfItsEnvelope() {
        Message<?> envelope = message("{\"Type\":\"Notification\",\"MessageId\":\"7\",\"Message\":\"published\"}");

        assertThat(parse("#event.message + #event.messageId", "notification").evaluate(envelope))
                .isEqualTo("published7");
    }

    @Test
    void argumentThatCannotBeMadeOfAMessageFailsWithoutShowingIt() {
        assertThatThrownBy(() -> parse("#order.orderId", "order").evaluate(message("secret-4111\nFORGED")))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageContaining(
                        "key expression '#order.orderId' reads the argument '#order', which cannot be resolved")
                .hasMessageNotContaining("4111")
                .hasNoCause();
        assertThatThrownBy(() -> parse("#ids[0]", "array").evaluate(message("A-1")))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageContaining("the header 'ids' is missing");
    }

    @ParameterizedTest
    @CsvSource({"#visibility, visible, VisibilityHandlerMethodArgumentResolver", "#p0.name, tenant, TenantResolver"})
    void argumentThatNeedsMoreThanTheMessageIsRefused(String expression, String name, String resolver) {
        Method method = ListenerRig.method(Handlers.class, name);
        List<HandlerMethodArgumentResolver> resolvers = new ArrayList<>(List.of(new TenantResolver()));
        resolvers.addAll(ListenerRig.resolvers());

        assertThatThrownBy(() -> ListenerRig.key(expression, method, resolvers))
                .isInstanceOfSatisfying(InvalidListenerException.class, invalid -> {
                    assertThat(invalid.problem())
                            .contains("key expression '" + expression + "' reads the argument", resolver, "polled");
                    assertThat(invalid.remedy()).contains("#payload, #message, #headers");
                });
    }

    @Test
    void argumentOfAnUnknownHandlerMethodFactoryIsRefused() {
        Method method = ListenerRig.method(Handlers.class, "order");

        assertThatThrownBy(() -> ListenerRig.key("#order.orderId", method, List.of()))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("the application's own MessageHandlerMethodFactory");
        assertThat(ListenerRig.key("#payload.orderId", method, List.of()).evaluate(message(ORDER)))
                .isEqualTo("A-1");
    }

    /** SpEL also reads fields, lengths of arrays, and contents of Optionals. Startup must accept these expressions. */
    @Test
    void fieldsLengthsAndOptionalsAreRead() {
        Message<?> values = MessageBuilder.withPayload(new Label())
                .setHeader("ids", new String[] {"a", "b"})
                .setHeader("order", ORDER)
                .build();

        assertThat(parse("#label.number + #label.text", "label").evaluate(values))
                .isEqualTo("L-3fragile");
        assertThat(parse("#ids.length", "array").evaluate(values)).isEqualTo(2);
        assertThat(parse("#order?.orderId", "optional").evaluate(values)).isEqualTo("A-1");
        assertThat(parse("#p1", "text").evaluate(message("A-1"))).isEqualTo(42);
    }

    @Test
    void itemOfABatchIsReadByPayloadMessageAndHeaders() {
        assertThat(parse("#payload.orderId + '/' + #headers.tenant + '/' + #message.payload.orderId", "batch")
                        .evaluate(message(ORDER)))
                .isEqualTo("A-1/acme/A-1");
        assertThat(parse("#payload.number", "parcels").evaluate(message(new Parcel())))
                .isEqualTo("P-7");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            order   | #order.                        | key expression '#order.' does not parse | #order.orderId
            order   | #oder.orderId                  | unknown argument '#oder' | use one of #headers, #message, #order, #payload
            order   | #order.orderId + #oder         | unknown argument '#oder' | use one of
            order   | #headers[#oder]                | unknown argument '#oder' | use one of
            order   | {#oder}                        | unknown argument '#oder' | use one of
            order   | #order.orderId ?: #oder.x      | unknown argument '#oder' | use one of
            order   | #order.orderId.concat(#oder)   | unknown argument '#oder' | use one of
            order   | #p1                            | unknown argument '#p1'   | use one of
            order   | #a1.orderId                    | unknown argument '#a1'   | use one of
            order   | #order.ordrId                  | 'ordrId'                 | record component of Order
            order   | #order?.ordrId                 | 'ordrId'                 | record component of Order
            order   | 'x' + #order.ordrId            | 'ordrId'                 | record component of Order
            order   | #order.ordrId.length()         | 'ordrId'                 | record component of Order
            claimed | #claim.attempt | reads the claim '#claim', which depends on the key | use the message's own content
            batch   | #payload.ordrId                | 'ordrId'                 | record component of Order
            batch   | #order.orderId                 | unknown argument '#order' | use one of #headers, #message, #payload
            batch   | #orders[0].orderId             | reads the argument '#orders' | use #payload, #message or #headers
            batch   | #p0[0]                         | reads the argument '#p0'     | use #payload, #message or #headers
            parcels | #claims                        | reads the argument '#claims' | use #payload, #message or #headers
            """)
    void expressionThatCanNeverBeReadFailsStartup(String method, String expression, String problem, String remedy) {
        assertThatThrownBy(() -> parse(expression, method))
                .isInstanceOfSatisfying(InvalidListenerException.class, invalid -> {
                    assertThat(invalid.problem()).contains("Handlers." + method, problem);
                    assertThat(invalid.remedy()).contains(remedy);
                });
    }

    @Test
    void typingErrorInATypeThatMayHaveSubclassesFailsAtEvaluation() {
        KeyExpression expression = parse("#parcel.numbr", "parcel");

        assertThatThrownBy(() -> expression.evaluate(message(new Parcel()))).isInstanceOf(UnusableKeyException.class);
        assertThat(parse("#parcel.number", "parcel").evaluate(message(new Parcel())))
                .isEqualTo("P-7");
    }

    @Test
    void newObjectThatIsNoTextIsRefused() {
        String type = Named.class.getName();

        assertThatThrownBy(() -> parse("new " + type + "(#order.orderId)", "order"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("of type " + type + ", which cannot be a key");
        assertThat(parse("new String(#order.orderId)", "order").evaluate(message(ORDER)))
                .isEqualTo("A-1");
    }

    @Test
    void reconcilerGetsThePayloadThatTheMethodTakes() {
        for (String method : List.of("order", "claimed", "whole", "batch")) {
            assertThat(payload(method, message(ORDER))).as(method).isEqualTo(ORDER);
        }
        assertThat(payload("order", message("{\"orderId\": \"A-1\"}"))).isEqualTo(new Order("A-1", null));
        assertThat(payload("any", message("text")))
                .as("of a method that takes no payload")
                .isEqualTo("text");
    }

    private static @Nullable Object payload(String method, Message<?> message) {
        return ListenerRig.payload(ListenerRig.method(Handlers.class, method), message);
    }

    @Test
    void classWithoutParameterNamesIsRefused() {
        // Classes of the JDK are compiled without parameter names.
        Method method = ListenerRig.method(String.class, "concat");

        assertThatThrownBy(() -> ListenerRig.key("#order", method))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        invalid -> assertThat(invalid.remedy()).isEqualTo("compile with javac -parameters"));
    }

    private static KeyExpression parse(String expression, String method) {
        Method declared = ListenerRig.method(Handlers.class, method);
        return ListenerRig.key(expression, declared);
    }
}
