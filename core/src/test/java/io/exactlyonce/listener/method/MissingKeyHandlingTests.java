package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.MissingKeyException;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.delivery.Attempt;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.messaging.support.MessageBuilder;

/** Tests which keys count as missing, and what a listener then does with the message. */
class MissingKeyHandlingTests {

    /** An event like an S3 event. S3's test event has no records. */
    record Event(@Nullable List<Item> records, @Nullable Object other) {}

    record Item(@Nullable String key) {}

    static class Listeners {

        @ExactlyOnceListener(
                queueNames = "events",
                key = "#event.records[0].key",
                whenKeyMissing = MissingKeyPolicy.SKIP)
        void skip(Event event) {}

        @ExactlyOnceListener(
                queueNames = "events",
                key = "#event.records[0].key",
                scope = "s3",
                whenKeyMissing = MissingKeyPolicy.RUN_UNPROTECTED)
        void unprotected(Event event, Claim claim) {}

        @ExactlyOnceListener(queueNames = "events", key = "#event.records[0].key")
        void refuse(Event event) {}

        @ExactlyOnceListener(queueNames = "events", key = "#event.records[0].key")
        void any(Event event) {}

        @ExactlyOnceListener(queueNames = "events", key = "#order.id")
        void map(Map<String, Object> order) {}
    }

    private static final Event TEST_EVENT = new Event(null, null);

    private static ReceivedMessage received(Object payload) {
        ReceivedMessage received = ListenerRig.received();
        received.attachTo(
                MessageBuilder.withPayload(payload).setHeader("blank", " ").build(), null);
        return received;
    }

    private static @Nullable Object evaluate(String method, String key, Object payload) {
        return ListenerRig.key(key, ListenerRig.method(Listeners.class, method))
                .evaluate(received(payload).message());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#payload.records[0].key",
                "#payload.records.size()",
                "#payload.other.toString()",
                "#headers.absent",
                "#headers['absent'].length()"
            })
    void readOfWhatIsNotThereIsAMissingKey(String key) {
        assertThatThrownBy(() -> evaluate("any", key, TEST_EVENT))
                .isInstanceOf(MissingKeyException.class)
                .hasMessageContaining("'" + key + "' failed on this message");
    }

    @Test
    void readOfAMapsAbsentEntryIsAMissingKey() {
        Map<String, Object> order = new HashMap<>(Map.of("customer", Map.of()));

        assertThatThrownBy(() -> evaluate("map", "#payload.customer.id", order))
                .isInstanceOf(MissingKeyException.class);
        assertThat(evaluate("map", "#payload['customer']['id']", order)).isNull();
        assertThatThrownBy(() -> evaluate("map", "#payload.customer.foo()", order))
                .as("no map has the method")
                .isExactlyInstanceOf(UnusableKeyException.class);
    }

    /**
     * The expression or the message has an error here. If the key counted as missing, {@code MissingKeyPolicy.SKIP}
     * would delete the message.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "#payload.other.unknown",
                "#payload.records[7].key",
                "#payload.records.foo()",
                "T(java.lang.Integer).parseInt(#payload.records[0].key)",
                "#payload.records[0].key - 1"
            })
    void expressionThatFailsForAnotherReasonIsNoMissingKey(String key) {
        Event event = new Event(List.of(new Item("a.csv")), new Item("b.csv"));

        assertThatThrownBy(() -> evaluate("any", key, event)).isExactlyInstanceOf(UnusableKeyException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " \t"})
    void blankKeyIsMissing(String blank) {
        assertSkipped(new Event(List.of(new Item(blank)), null));
    }

    @Test
    void nullKeyIsMissing() {
        assertSkipped(new Event(List.of(new Item(null)), null));
    }

    private static void assertSkipped(Event event) {
        ReceivedMessage message = received(event);
        ListenerRig.settings(new Listeners(), "skip").specify(message);
        assertThat(message.delivery().attempt().takeMissingKey()).isEqualTo(MissingKeyPolicy.SKIP);
        assertThat(message.delivery().isUnprotected()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"skip", "unprotected"})
    void unusableKeyIsRefusedWithEachPolicy(String method) {
        ReceivedMessage message = received(new Event(List.of(new Item("a\0b")), null));

        String log = specify(method, message);

        assertThat(log).contains("ERROR", "is returned", "contains a NUL character");
        assertThat(message.delivery().attempt().takeMissingKey()).isNull();
        assertThat(message.delivery().attempt().isToBeClaimed()).isFalse();
        assertThat(message.delivery().isUnprotected()).isFalse();
    }

    private static String specify(String method, ReceivedMessage message) {
        try (CapturedLog log = new CapturedLog()) {
            ListenerRig.settings(new Listeners(), method).specify(message);
            return log.text().strip();
        }
    }

    @Test
    void keyThatIsThereIsClaimed() {
        ReceivedMessage message = received(new Event(List.of(new Item("a.csv")), null));

        assertThat(specify("unprotected", message)).isEmpty();

        assertThat(message.delivery().attempt().isToBeClaimed()).isTrue();
        assertThat(message.delivery().isUnprotected()).isFalse();
    }

    @ParameterizedTest
    @EnumSource(MissingKeyPolicy.class)
    void lineHasTheOutcomeOfTheMessageAndTheReason(MissingKeyPolicy policy) {
        String method = switch (policy) {
            case REFUSE -> "refuse";
            case SKIP -> "skip";
            case RUN_UNPROTECTED -> "unprotected";
        };

        String log = specify(method, received(TEST_EVENT));

        assertThat(log.lines()).hasSize(1);
        assertThat(log)
                .contains("'#event.records[0].key' failed on this message")
                .contains(
                        switch (policy) {
                            case REFUSE -> "is returned, and ends in the dead-letter queue if there is one: ";
                            case SKIP -> "is deleted without a call of its handler, as whenKeyMissing = SKIP says: ";
                            case RUN_UNPROTECTED ->
                                "is handled without a claim, as whenKeyMissing = RUN_UNPROTECTED says: ";
                        })
                .contains(policy == MissingKeyPolicy.REFUSE ? "ERROR" : "INFO");
    }

    @Test
    void unprotectedClaimAnswersWhatNeedsNoKey() {
        ReceivedMessage message = received(TEST_EVENT);
        ListenerRig.settings(new Listeners(), "unprotected").specify(message);
        Delivery delivery = message.delivery();
        Attempt attempt = delivery.attempt();

        assertThat(attempt.takeMissingKey()).isEqualTo(MissingKeyPolicy.RUN_UNPROTECTED);
        assertThat(delivery.isUnprotected()).isTrue();
        assertThat(attempt.key().scope()).isEqualTo("s3");
        Claim claim = attempt.handlersClaim();
        assertThat(claim.attempt()).isEqualTo(1);
        assertThat(claim.isInDoubt()).isFalse();
        claim.ensureHeld();
        for (Runnable ofAKey : List.<Runnable>of(
                claim::scope, claim::key, claim::keyHash, claim::downstreamKey, () -> claim.downstreamKey("refund"))) {
            assertThatThrownBy(ofAKey::run)
                    .isInstanceOf(MissingKeyException.class)
                    .hasMessageContaining("'#event.records[0].key'");
        }
        for (Runnable ofAClaim : List.<Runnable>of(claim::fence, claim::fencingToken)) {
            assertThatThrownBy(ofAClaim::run)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("whenKeyMissing = RUN_UNPROTECTED calls the handler without a claim");
        }
    }
}
