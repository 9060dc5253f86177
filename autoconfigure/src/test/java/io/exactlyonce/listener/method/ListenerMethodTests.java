package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.support.converter.SnsNotification;
import io.exactlyonce.Claim;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.ResultSerializer;
import io.exactlyonce.delivery.TestResults;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageBuilder;

class ListenerMethodTests {

    static class Parcel {
        public String getNumber() {
            return "P-7";
        }

        public String getSecret() {
            return "secret-4111\nFORGED ".repeat(2_000);
        }

        public String getPattern() {
            return "secret-4111\nFORGED[";
        }

        public String getFailing() {
            return fail();
        }

        public String fail() {
            throw new IllegalStateException(getSecret());
        }

        public @Nullable String getNothing() {
            return null;
        }
    }

    interface Handlers {
        void parcel(Parcel parcel);

        int withClaim(Parcel parcel, Claim claim, String other);

        boolean flag(Parcel parcel);

        String text(Parcel parcel);

        void notification(SnsNotification<String> order);

        void notifications(List<SnsNotification<String>> orders);
    }

    private static final ResultSerializer NO_RESULTS = TestResults.NONE;

    private final Object[] arguments = {new Parcel()};
    private final ReceivedMessage plain =
            new ReceivedMessage(ListenerRig.delivery(), null, "", "body", UnknownOrigin.INSTANCE);

    /** The envelope is another one each time, and would pass for another payload under the same key. */
    @Test
    void payloadOfASnsNotificationIsTheSameForSingleMessagesAndBatches() {
        ResultSerializer json = TestResults.reading((text, type) -> Map.of("MessageId", text, "Message", "published"));
        ReceivedMessage received =
                new ReceivedMessage(ListenerRig.delivery(), null, "", "{...}", UnknownOrigin.INSTANCE);

        assertThat(payloads(json, received)).containsExactly("published", "published");
    }

    private static List<String> payloads(ResultSerializer json, ReceivedMessage received) {
        Message<?> message = received.attachTo(ListenerRig.message(Map.of()), Map.of());
        ListenerMethod single = new ListenerMethod(
                ListenerRig.method(Handlers.class, "notification"), false, null, null, InDoubtPolicy.RERUN, null, json);
        ListenerMethod batch = new ListenerMethod(
                ListenerRig.method(Handlers.class, "notifications"),
                false,
                null,
                null,
                InDoubtPolicy.RERUN,
                null,
                json);
        return Stream.of(single.spec(message), batch.spec(message))
                .map(ClaimSpec::payload)
                .toList();
    }

    @Test
    void keyIsWhatTheExpressionSays() {
        ReceivedMessage withAttribute =
                new ReceivedMessage(ListenerRig.delivery(), "attribute", "", "body", UnknownOrigin.INSTANCE);

        assertThat(key(method("#parcel.number", null), withAttribute)).isEqualTo(new ClaimKey("orders", "P-7"));
    }

    @Test
    void withoutExpressionTheKeyIsTheMessageAttribute() {
        ReceivedMessage withAttribute =
                new ReceivedMessage(ListenerRig.delivery(), "attribute", "", "body", UnknownOrigin.INSTANCE);

        assertThat(key(method(null, null), withAttribute)).isEqualTo(new ClaimKey("orders", "attribute"));
    }

    @Test
    void withoutExpressionAndAttributeTheKeyIsTheMessageId() {
        assertThat(key(method(null, null), plain)).isEqualTo(new ClaimKey("orders", "message-id"));
    }

    @Test
    void blankAttributeFailsTheDeliveryInsteadOfFallingBack() {
        ReceivedMessage blank = new ReceivedMessage(ListenerRig.delivery(), "", "", "body", UnknownOrigin.INSTANCE);

        assertThatThrownBy(() -> key(method(null, null), blank))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("ExactlyOnce-Key is blank");
    }

    @Test
    void headerOfTheAttributesNameIsNoKey() {
        Message<String> forged = ListenerRig.message(Map.of("ExactlyOnce-Key", "forged"));

        assertThat(method(null, null)
                        .spec(plain.attachTo(forged, Map.of()))
                        .key()
                        .key())
                .isEqualTo("message-id");
    }

    @Test
    void scopeIsWhatTheAnnotationSays() {
        assertThat(key(method("#parcel.number", "shipping"), plain)).isEqualTo(new ClaimKey("shipping", "P-7"));
    }

    @Test
    void expressionWithoutAValueFailsTheDelivery() {
        assertThatThrownBy(() -> key(method("#parcel.nothing", null), plain))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("'#parcel.nothing' is null");
    }

    @Test
    void expressionThatFailsOnAMessageFailsTheDelivery() {
        assertThatThrownBy(() -> key(method("#parcel.numbr", null), plain))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("'#parcel.numbr' failed on this message")
                .hasMessageContaining("'numbr' cannot be found on object of type");
        assertThatThrownBy(() -> key(method("#headers.absent", null), plain)).isInstanceOf(InvalidKeyException.class);
    }

    /** Its log would otherwise show what the sender wrote, line breaks and all. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "T(java.util.UUID).fromString(#parcel.secret)",
                "T(java.lang.Integer).parseInt(#parcel.secret)",
                "#parcel.secret matches #parcel.pattern",
                "#parcel.failing",
                "#parcel.fail()",
                "{1, 2}[#parcel.secret]",
                "#parcel.secret + 1 > #parcel"
            })
    void whatAnExpressionThrowsFailsTheDeliveryWithoutShowingItsContent(String expression) {
        assertThatThrownBy(() -> key(method(expression, null), plain))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("failed on this message")
                .hasMessageNotContaining("secret-4111")
                .hasMessageNotContaining("\nFORGED")
                .hasNoCause();
    }

    @Test
    void claimIsPassedWhereTheMethodWantsIt() {
        Object[] passed = {arguments[0], null, "other"};
        Claim claim = new StubClaim();

        new ListenerMethod(
                        ListenerRig.method(Handlers.class, "withClaim"),
                        false,
                        null,
                        null,
                        InDoubtPolicy.RERUN,
                        null,
                        NO_RESULTS)
                .pass(claim, passed);

        assertThat(passed).containsExactly(arguments[0], claim, "other");
    }

    @Test
    void methodWithoutAClaimKeepsItsArguments() {
        Object[] passed = arguments.clone();

        method(null, null).pass(new StubClaim(), passed);

        assertThat(passed).isEqualTo(arguments);
    }

    @Test
    void handlerThatWasNotCalledReturnsNothingOfItsType() {
        assertThat(nothing("withClaim")).isEqualTo(0);
        assertThat(nothing("flag")).isEqualTo(false);
        assertThat(nothing("text")).isNull();
        assertThat(nothing("parcel")).isNull();
    }

    private static Object nothing(String method) {
        return new ListenerMethod(
                        ListenerRig.method(Handlers.class, method),
                        false,
                        null,
                        null,
                        InDoubtPolicy.RERUN,
                        null,
                        NO_RESULTS)
                .nothing();
    }

    private static ClaimKey key(ListenerMethod method, ReceivedMessage received) {
        Message<Parcel> message = MessageBuilder.withPayload(new Parcel()).build();
        return method.spec(received.attachTo(message, Map.of())).key();
    }

    private static ListenerMethod method(@Nullable String expression, @Nullable String scope) {
        Method method = ListenerRig.method(Handlers.class, "parcel");
        return new ListenerMethod(
                method,
                false,
                expression == null ? null : KeyExpression.parse(expression, ListenerRig.arguments(method)),
                scope,
                InDoubtPolicy.RERUN,
                null,
                NO_RESULTS);
    }

    private static final class StubClaim implements Claim {

        @Override
        public String key() {
            return "P-7";
        }

        @Override
        public int attempt() {
            return 1;
        }

        @Override
        public boolean isAmbiguous() {
            return false;
        }

        @Override
        public long fencingToken() {
            return 1;
        }

        @Override
        public String downstreamKey() {
            return "";
        }

        @Override
        public void ensureHeld() {}

        @Override
        public void fence() {}
    }
}
