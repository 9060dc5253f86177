package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.Claim;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.expression.EvaluationException;
import org.springframework.messaging.Message;

class KeyExpressionTests {

    record Customer(String email) {}

    record Order(String orderId, Customer customer) {}

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

    /** As {@link Payment}, and unrelated. */
    record Refund(String id) {}

    interface Handlers {
        void any(Object value);

        void label(Label label);

        void claimed(Order order, Claim claim);

        void array(String[] ids);

        void optional(Optional<Order> order);

        void order(Order order);

        void parcel(Parcel parcel);

        void text(String id, int count);

        void namedMessage(Order message, String headers);

        void batch(List<Order> orders);

        void parcels(List<Message<Parcel>> payload, List<Claim> claims);
    }

    private static final Order ORDER = new Order("A-1", new Customer("a@example.org"));

    private final Message<String> message = ListenerRig.message(Map.of("tenant", "acme", "x-id", 42));

    @ParameterizedTest
    @CsvSource({
        "#order.orderId, A-1",
        "#order.orderId(), A-1",
        "#order.customer.email, a@example.org",
        "#order?.customer?.email, a@example.org",
        "#order.orderId + '/' + #headers.tenant, A-1/acme",
        "#p0.orderId, A-1",
        "#a0.orderId, A-1",
        "#message.payload, payload",
        "#payload, payload",
        "#headers['tenant'], acme",
        "#headers.tenant, acme",
        "#headers['x-id'], 42",
        "#message.headers['tenant'], acme",
        "'''constant''', constant",
        "'''abc''.length()', 3"
    })
    void expressionReadsArgumentsMessageAndHeaders(String expression, String expected) {
        Object value = parse(expression, "order").evaluate(new Object[] {ORDER}, message);

        assertThat(value).hasToString(expected);
    }

    @Test
    void keyDoesNotDependOnWhatWasEvaluatedBefore() {
        KeyExpression sum = parse("#value.n + #value.k", "any");
        KeyExpression product = parse("#value.n * 1", "any");
        KeyExpression text = parse("#value.id", "any");
        for (int i = 0; i < 300; i++) {
            sum.evaluate(new Object[] {Map.of("n", i, "k", 7)}, message);
            product.evaluate(new Object[] {Map.of("n", i)}, message);
            text.evaluate(new Object[] {new Payment("p" + i)}, message);
        }

        assertThat(sum.evaluate(new Object[] {Map.of("n", 4_294_967_301L, "k", 7)}, message))
                .isEqualTo(4_294_967_308L);
        assertThat(product.evaluate(new Object[] {Map.of("n", 5.7)}, message)).isEqualTo(5.7);
        assertThat(text.evaluate(new Object[] {new Refund("r")}, message)).isEqualTo("r");
        assertThat(text.evaluate(new Object[] {Map.of("id", "m")}, message)).isEqualTo("m");
        assertThatThrownBy(() -> text.evaluate(new Object[] {null}, message)).isInstanceOf(EvaluationException.class);
    }

    @Test
    void absentPropertyFailsHoweverOftenItWasThere() {
        KeyExpression expression = parse("#value.tenant + ':' + #value.id", "any");
        for (int i = 0; i < 300; i++) {
            expression.evaluate(new Object[] {Map.of("tenant", "t", "id", i)}, message);
        }

        assertThatThrownBy(() -> expression.evaluate(new Object[] {Map.of("tenant", "t")}, message))
                .isInstanceOf(EvaluationException.class);
    }

    @Test
    void argumentIsReadByName() {
        assertThat(parse("#id", "text").evaluate(new Object[] {"A-1", 3}, message))
                .isEqualTo("A-1");
        assertThat(parse("#p1", "text").evaluate(new Object[] {"A-1", 3}, message))
                .isEqualTo(3);
    }

    @Test
    void absentHeaderIsNull() {
        assertThat(parse("#headers['absent']", "order").evaluate(new Object[] {ORDER}, message))
                .isNull();
    }

    @Test
    void argumentNamedMessageOrHeadersWins() {
        Object[] arguments = {ORDER, "h"};

        assertThat(parse("#message.orderId", "namedMessage").evaluate(arguments, message))
                .isEqualTo("A-1");
        assertThat(parse("#headers", "namedMessage").evaluate(arguments, message))
                .isEqualTo("h");
    }

    @Test
    void itemOfABatchIsReadByPayloadMessageAndHeaders() {
        assertThat(parse("#payload.orderId + '/' + #headers.tenant + '/' + #message.payload", "batch")
                        .evaluateItem(ORDER, message))
                .isEqualTo("A-1/acme/payload");
        assertThat(parse("#payload.number", "parcels").evaluateItem(new Parcel(), message))
                .isEqualTo("P-7");
    }

    @ParameterizedTest
    @CsvSource({
        "#orders[0].orderId, batch, #orders",
        "#p0[0], batch, #p0",
        "#a1, parcels, #a1",
        "#claims, parcels, #claims"
    })
    void argumentOfAMethodThatTakesBatchesIsRefusedWithTheRemedy(String expression, String method, String name) {
        assertThatThrownBy(() -> parse(expression, method))
                .isInstanceOfSatisfying(InvalidListenerException.class, invalid -> {
                    assertThat(invalid.problem()).contains("reads the argument '" + name + "'", "takes batches");
                    assertThat(invalid.remedy()).startsWith("use #payload, #message or #headers");
                });
    }

    @Test
    void unknownNameAndTypingErrorOfABatchesItemAreRefused() {
        assertThatThrownBy(() -> parse("#order.orderId", "batch"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("use one of #headers, #message, #payload");
        assertThatThrownBy(() -> parse("#payload.ordrId", "batch"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("'ordrId'");
    }

    @Test
    void syntaxErrorIsRefused() {
        assertThatThrownBy(() -> parse("#order.", "order"))
                .isInstanceOfSatisfying(InvalidListenerException.class, invalid -> {
                    assertThat(invalid.problem()).contains("Handlers.order", "key expression '#order.' does not parse");
                    assertThat(invalid.remedy()).contains("#order.orderId");
                });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#oder.orderId",
                "#order.orderId + #oder",
                "#headers[#oder]",
                "{#oder}",
                "#order.orderId ?: #oder.x",
                "#order.orderId.concat(#oder)"
            })
    void unknownArgumentIsRefusedWithTheKnownOnes(String expression) {
        assertThatThrownBy(() -> parse(expression, "order"))
                .isInstanceOfSatisfying(InvalidListenerException.class, invalid -> {
                    assertThat(invalid.problem()).contains("unknown argument '#oder'");
                    assertThat(invalid.remedy()).isEqualTo("use one of #headers, #message, #order, #payload");
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"#p1", "#a1.orderId", "#p", "#b0"})
    void unknownPositionIsRefused(String expression) {
        assertThatThrownBy(() -> parse(expression, "order"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("unknown argument");
    }

    @ParameterizedTest
    @ValueSource(strings = {"#order.ordrId", "#order?.ordrId", "'x' + #order.ordrId", "#order.ordrId.length()"})
    void typingErrorInARecordsPropertyIsRefused(String expression) {
        assertThatThrownBy(() -> parse(expression, "order"))
                .isInstanceOfSatisfying(InvalidListenerException.class, invalid -> {
                    assertThat(invalid.problem()).contains("'ordrId'").contains(Order.class.getName());
                    assertThat(invalid.remedy()).contains("record component of Order");
                });
    }

    @Test
    void typingErrorInATypeThatMayHaveSubclassesFailsAtEvaluation() {
        KeyExpression expression = parse("#parcel.numbr", "parcel");

        assertThatThrownBy(() -> expression.evaluate(new Object[] {new Parcel()}, message))
                .isInstanceOf(EvaluationException.class);
        assertThat(parse("#parcel.number", "parcel").evaluate(new Object[] {new Parcel()}, message))
                .isEqualTo("P-7");
    }

    @Test
    void propertyOfAMessageThatAnArgumentIsNamedLikeIsChecked() {
        assertThatThrownBy(() -> parse("#message.payload", "namedMessage"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("'payload'");
    }

    @ParameterizedTest
    @CsvSource({"#label.number, L-3", "#label.text, fragile"})
    void fieldsAndGettersOfAFinalClassAreRead(String expression, String expected) {
        assertThat(parse(expression, "label").evaluate(new Object[] {new Label()}, message))
                .isEqualTo(expected);
    }

    @Test
    void whatSpelReadsBeyondATypesOwnPropertiesIsAllowed() {
        assertThat(parse("#ids.length", "array").evaluate(new Object[] {new String[] {"a", "b"}}, message))
                .isEqualTo(2);
        assertThat(parse("#order?.orderId", "optional").evaluate(new Object[] {Optional.of(ORDER)}, message))
                .isEqualTo("A-1");
    }

    @Test
    void claimIsNoPartOfItsOwnKey() {
        assertThatThrownBy(() -> parse("#claim.attempt", "claimed"))
                .isInstanceOfSatisfying(InvalidListenerException.class, invalid -> {
                    assertThat(invalid.problem()).contains("reads the claim '#claim', which is made of the key");
                    assertThat(invalid.remedy()).isEqualTo("use the message's own content");
                });
    }

    @Test
    void classWithoutParameterNamesIsRefused() {
        Method method = ListenerRig.method(Handlers.class, "order");

        assertThatThrownBy(() -> KeyExpressionValidator.forArguments(method, "#order", null))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        invalid -> assertThat(invalid.remedy()).isEqualTo("compile with javac -parameters"));
    }

    @Test
    void textIsTheExpressionAsItWasWritten() {
        assertThat(parse("#order.orderId", "order")).hasToString("#order.orderId");
    }

    private static KeyExpression parse(String expression, String method) {
        Method declared = ListenerRig.method(Handlers.class, method);
        return KeyExpression.parse(expression, declared);
    }
}
