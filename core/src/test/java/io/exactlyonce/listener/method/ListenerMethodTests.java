package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.fingerprint.Content;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
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

        public Object getContent() {
            return this;
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
        @ExactlyOnceListener("orders")
        void parcel(Parcel parcel);
    }

    private final ReceivedMessage plain = ListenerRig.received();

    /**
     * A sender repeats a parcel with a different timestamp, and the fingerprint expression leaves the timestamp out.
     */
    @Test
    void fingerprintNamesWhatIsComparedInThePlaceOfTheBody() {
        ListenerMethod method = method("#parcel.number", "{#parcel.number, 3, #parcel.nothing}", null);
        ReceivedMessage first = ListenerRig.received(ListenerRig.delivery(), null, "{\"sentAt\": 1}");
        ReceivedMessage again = ListenerRig.received(ListenerRig.delivery(), null, "{\"sentAt\": 2}");
        List.of(first, again).forEach(ListenerMethodTests::attachParcel);

        assertThat(method.spec(first).content())
                .isEqualTo(method.spec(again).content())
                .isEqualTo(Content.ofValue("3:P-71:3-1:"));
        assertThat(method(null, null).spec(first).content()).isEqualTo(Content.ofBody("{\"sentAt\": 1}"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"#parcel.nothing", "#parcel.content", "{#parcel.content}", "#parcel.numbr"})
    void fingerprintWithoutAUsableValueFailsTheDelivery(String fingerprint) {
        ListenerMethod method = method("#parcel.number", fingerprint, null);
        attachParcel(plain);

        assertThatThrownBy(() -> method.spec(plain))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageStartingWith("The fingerprint expression '" + fingerprint + "' ");
    }

    @Test
    void keyIsTheExpressionsElseTheMessageAttributeElseTheMessageId() {
        ReceivedMessage withAttribute = ListenerRig.received(ListenerRig.delivery(), "attribute", "body");

        assertThat(key(method("#parcel.number", null), withAttribute)).isEqualTo(new ClaimKey("orders", "P-7"));
        assertThat(key(method("#parcel.number", "shipping"), plain)).isEqualTo(new ClaimKey("shipping", "P-7"));
        assertThat(key(method(null, null), withAttribute)).isEqualTo(new ClaimKey("orders", "attribute"));
        assertThat(key(method(null, null), plain)).isEqualTo(new ClaimKey("orders", "message-id"));
    }

    @Test
    void blankAttributeFailsTheDeliveryInsteadOfFallingBack() {
        ReceivedMessage blank = ListenerRig.received(ListenerRig.delivery(), "", "body");

        assertThatThrownBy(() -> key(method(null, null), blank))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageContaining("ExactlyOnce-Key is blank");
    }

    @Test
    void headerOfTheAttributesNameIsNoKey() {
        Message<String> forged = ListenerRig.message(Map.of("ExactlyOnce-Key", "forged"));

        ListenerRig.attach(plain, forged);

        assertThat(method(null, null).spec(plain).key().key()).isEqualTo("message-id");
    }

    @Test
    void expressionWithoutAValueOrThatFailsOnAMessageFailsTheDelivery() {
        assertThatThrownBy(() -> key(method("#parcel.nothing", null), plain))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageContaining("'#parcel.nothing' is null");
        assertThatThrownBy(() -> key(method("#parcel.numbr", null), plain))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageContaining("'#parcel.numbr' failed on this message")
                .hasMessageContaining("'numbr' cannot be found on object of type");
        assertThatThrownBy(() -> key(method("#headers.absent", null), plain)).isInstanceOf(UnusableKeyException.class);
    }

    /**
     * Exceptions of expressions may quote the sender's text with its line breaks, so the log must not show these
     * exceptions.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "T(java.util.UUID).fromString(#parcel.secret)",
                "T(java.lang.Integer).parseInt(#parcel.secret)",
                "#parcel.secret matches #parcel.pattern ? 1 : 2",
                "#parcel.failing",
                "#parcel.fail()",
                "{1, 2}[#parcel.secret]",
                "#parcel[#parcel.secret]",
                "#parcel.secret + 1 > #parcel ? 1 : 2",
                "#parcel.secret - 1",
                "'a' matches '(' + #parcel.secret ? 1 : 2",
                "'a' matches {#parcel.secret} ? 1 : 2"
            })
    void whatAnExpressionThrowsFailsTheDeliveryWithoutShowingItsContent(String expression) {
        assertThatThrownBy(() -> key(method(expression, null), plain))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageContaining("failed on this message")
                .hasMessageNotContaining("secret-4111")
                .hasMessageNotContaining("\nFORGED")
                .hasNoCause();
    }

    private static ClaimKey key(ListenerMethod method, ReceivedMessage received) {
        attachParcel(received);
        return method.spec(received).key();
    }

    private static void attachParcel(ReceivedMessage received) {
        Message<Parcel> message = MessageBuilder.withPayload(new Parcel()).build();
        ListenerRig.attach(received, message);
    }

    private static ListenerMethod method(@Nullable String expression, @Nullable String scope) {
        return method(expression, null, scope);
    }

    private static ListenerMethod method(
            @Nullable String expression, @Nullable String fingerprint, @Nullable String scope) {
        Method method = ListenerRig.method(Handlers.class, "parcel");
        return new ListenerMethod(
                method,
                ListenerRig.declared(Handlers.class, "parcel").annotation(),
                false,
                true,
                false,
                ListenerRules.isBatch(method),
                null,
                expression == null ? null : ListenerRig.key(expression, method),
                fingerprint == null ? null : ListenerRig.fingerprint(fingerprint, method),
                scope,
                null,
                InDoubtSettings.RERUN,
                null,
                MismatchPolicy.AS_CONFIGURED,
                MissingKeyPolicy.REFUSE);
    }
}
