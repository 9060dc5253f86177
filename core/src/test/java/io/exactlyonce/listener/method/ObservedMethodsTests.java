package io.exactlyonce.listener.method;

import static io.exactlyonce.ExactlyOnceListener.CONTAINER_FACTORY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.acknowledgement.Acknowledgement;
import io.awspring.cloud.sqs.listener.acknowledgement.BatchAcknowledgement;
import io.exactlyonce.BatchResult;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimMode;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.delivery.FailedItems;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.messaging.support.MessageBuilder;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/**
 * Tests methods that are only observed. Enforce mode would refuse some of these methods. Observe mode runs them and
 * logs the reason.
 */
@ExtendWith(OutputCaptureExtension.class)
class ObservedMethodsTests {

    static class Listeners {

        private final List<Claim> given = new ArrayList<>();

        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        void fits(String order) {}

        @ExactlyOnceListener(queueNames = "orders")
        void acknowledges(String order, Acknowledgement acknowledgement) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload")
        void acknowledgesBatch(List<String> orders, BatchAcknowledgement<String> acknowledgement) {}

        @ExactlyOnceListener(queueNames = "orders")
        void untyped(List<?> orders) {}

        @ExactlyOnceListener(queueNames = "orders")
        Future<String> future(String order) {
            throw new UnsupportedOperationException();
        }

        @ExactlyOnceListener(queueNames = "orders")
        Map<String, ?> open(String order) {
            return Map.of("done", new FutureTask<>(() -> order));
        }

        @ExactlyOnceListener(queueNames = "orders")
        @SqsListener(queueNames = "orders", acknowledgementMode = "ALWAYS", factory = CONTAINER_FACTORY)
        void always(String order) {}

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, whenInDoubt = InDoubtPolicy.RECONCILE)
        void contradictory(String order) {}

        @ExactlyOnceListener(queueNames = "orders")
        private void hidden(String order) {}

        @ExactlyOnceListener(queueNames = "orders")
        void claims(String order, Claim claim) {
            given.add(claim);
        }

        @ExactlyOnceListener(queueNames = "orders")
        void claimsBatch(List<String> orders, List<Claim> claims) {
            given.addAll(claims);
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#payload")
        BatchResult failsSecond(List<String> orders) {
            return BatchResult.failed(1, new IllegalStateException("no carrier"));
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#payload")
        CompletableFuture<BatchResult> failsSecondLater(List<String> orders) {
            return CompletableFuture.completedFuture(failsSecond(orders));
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#payload")
        CompletableFuture<BatchResult> succeedsLater(List<String> orders) {
            return CompletableFuture.completedFuture(BatchResult.allSucceeded());
        }

        @ExactlyOnceListener(queueNames = "orders", reconciler = "${missing}")
        void unresolvable(String order) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#oder")
        void mistyped(String order) {}
    }

    static final class Final {
        @ExactlyOnceListener(queueNames = "orders")
        void handle(String order) {}
    }

    @Test
    void methodThatFitsNeedsNoWord(CapturedOutput output) {
        ContainerSettings settings = ListenerRig.observed(new Listeners(), "fits");

        assertThat(settings.isObserved()).isTrue();
        assertThat(settings.signalsCompletion()).isTrue();
        assertThat(output).doesNotContain("only observed");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            acknowledges | false | it takes an Acknowledgement
            acknowledgesBatch | false | it takes batches of messages, and also a BatchAcknowledgement
            untyped | false | its list does not name the type of the payloads
            future | false | it returns java.util.concurrent.Future
            always | false | its acknowledgementMode is ALWAYS
            contradictory | true | whenInDoubt = RECONCILE has no meaning with effects = DATABASE
            hidden | true | a private, final or static method
            unresolvable | true | Could not resolve placeholder 'missing'
            """)
    void whatEnforcingRefusesIsObservedAndReported(
            String method, boolean signalsCompletion, String problem, CapturedOutput output) {
        ContainerSettings settings = ListenerRig.observed(new Listeners(), method);

        assertThat(settings.isObserved()).isTrue();
        assertThat(settings.signalsCompletion()).isEqualTo(signalsCompletion);

        assertThat(output).contains("Startup would fail with mode = enforce").contains(problem);
    }

    /** The declared type hides that the result stands for unfinished work. In enforce mode, the call would fail. */
    @Test
    void resultThatStandsForWorkCompletesNoKey(CapturedOutput output) throws Exception {
        assertThat(ListenerRig.observed(new Listeners(), "open").signalsCompletion())
                .isTrue();
        assertThat(output).doesNotContain("only observed");

        assertThat(call(new Listeners(), "open", message("o1", "1")).signalsCompletion())
                .isFalse();

        assertThat(output)
                .contains("Listeners.open is only observed, and returned java.util.concurrent.FutureTask, whose work");
    }

    @Test
    void finalClassIsObservedAndReported(CapturedOutput output) {
        assertThat(ListenerRig.observed(new Final(), "handle").isObserved()).isTrue();

        assertThat(output).contains("is final, which cannot have a proxy");
    }

    @Test
    void claimHasWhatFollowsFromTheMessageAlone() throws Exception {
        Listeners listeners = new Listeners();

        call(listeners, "claims", message("o1", "3"));

        Claim claim = listeners.given.get(0);
        ClaimKey key = new ClaimKey("orders", "id-of-o1");
        assertThat(claim.key()).isEqualTo(key.key());
        assertThat(claim.scope()).isEqualTo(key.scope());
        assertThat(claim.keyHash()).isEqualTo(key.keyHash());
        assertThat(claim.downstreamKey()).isEqualTo(key.downstreamKey());
        assertThat(claim.downstreamKey("refund")).isEqualTo(key.downstreamKey("refund"));
        assertThat(claim.followUp("shipped").key()).isEqualTo(key.downstreamKey("shipped"));
        assertThat(claim.attempt()).isEqualTo(3);
        assertThat(claim.isInDoubt()).isFalse();
        assertThatCode(claim::ensureHeld).doesNotThrowAnyException();
    }

    /**
     * An observed claim has no fencing token, because an invented token could make a store refuse later real claims.
     */
    @Test
    void claimThatIsNotHeldFencesNothing() throws Exception {
        Listeners listeners = new Listeners();

        call(listeners, "claims", message("o1", "many"));

        Claim claim = listeners.given.get(0);
        assertThat(claim.attempt()).isOne();
        for (ThrowingCallable fencing : List.<ThrowingCallable>of(claim::fence, claim::fencingToken)) {
            assertThatThrownBy(fencing)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("its listener's mode is 'observe'")
                    .hasMessageContaining("set mode = ClaimMode.ENFORCE")
                    .hasMessageNotContaining("o1");
        }
    }

    @Test
    void batchGetsAClaimForEachMessage() throws Exception {
        Listeners listeners = new Listeners();

        call(listeners, "claimsBatch", new GenericMessage<>(List.of(message("o1", "1"), message("o2", "2"))));

        assertThat(listeners.given).extracting(Claim::key).containsExactly("id-of-o1", "id-of-o2");
    }

    /** Spring Cloud AWS ignores results of handlers, and would delete the failed message. */
    @Test
    void batchThatNamesAFailedMessageFailsAsAWhole() {
        Message<?> batch = new GenericMessage<>(List.of(message("o1", "1"), message("o2", "1")));

        assertThatThrownBy(() -> call(new Listeners(), "failsSecond", batch))
                .isInstanceOf(FailedItems.class)
                .hasMessage("Of the batch, 1 items failed, at [1]");
    }

    /** Spring Cloud AWS ignores the results of futures, and would delete the failed message. */
    @Test
    void batchThatNamesAFailedMessageLaterFailsAsAWhole() throws Exception {
        Message<?> batch = new GenericMessage<>(List.of(message("o1", "1"), message("o2", "1")));

        assertThat((CompletableFuture<?>) invoke("failsSecondLater", batch))
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(FailedItems.class);
        assertThat((CompletableFuture<?>) invoke("succeedsLater", batch)).isCompletedWithValue(null);
    }

    private static Object invoke(String method, Message<?> message) throws Exception {
        AtomicReference<InvocableHandlerMethod> made = new AtomicReference<>();
        ContainerSettings.of(() -> made.set(ListenerRig.handlerMethods(ClaimMode.OBSERVE)
                .createInvocableHandlerMethod(new Listeners(), ListenerRig.method(Listeners.class, method))));
        return made.get().invoke(message);
    }

    /** A message without a usable key must reach its handler, alone or in a batch, as it would without this library. */
    @Test
    void claimOfAMessageWithoutAUsableKeyFailsOnlyWhenItsKeyIsRead() throws Exception {
        Listeners listeners = new Listeners();
        Message<String> unknown = MessageBuilder.withPayload("o2").build();

        call(listeners, "claims", unknown);
        call(listeners, "claimsBatch", new GenericMessage<>(List.of(message("o1", "3"), unknown)));

        assertThat(listeners.given).extracting(Claim::attempt).containsExactly(1, 3, 1);
        assertThat(listeners.given.get(1).key()).isEqualTo("id-of-o1");
        for (Claim claim : List.of(listeners.given.get(0), listeners.given.get(2))) {
            assertThatCode(claim::ensureHeld).doesNotThrowAnyException();
            for (ThrowingCallable asked :
                    List.<ThrowingCallable>of(claim::key, claim::downstreamKey, () -> claim.followUp("shipped"))) {
                assertThatThrownBy(asked)
                        .isInstanceOf(UnusableKeyException.class)
                        .hasMessageContaining("replaced the message's headers");
            }
            assertThatThrownBy(claim::fence).isInstanceOf(IllegalStateException.class);
        }
    }

    private static ContainerSettings call(Listeners listeners, String method, Message<?> message) throws Exception {
        AtomicReference<InvocableHandlerMethod> made = new AtomicReference<>();
        ContainerSettings settings = ContainerSettings.of(() -> made.set(ListenerRig.handlerMethods(ClaimMode.OBSERVE)
                .createInvocableHandlerMethod(listeners, ListenerRig.method(Listeners.class, method))));
        made.get().invoke(message);
        return settings;
    }

    private static Message<String> message(String payload, String receiveCount) {
        var source = software.amazon.awssdk.services.sqs.model.Message.builder()
                .messageId("id-of-" + payload)
                .body(payload)
                .attributes(Map.of(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, receiveCount))
                .build();
        return MessageBuilder.withPayload(payload)
                .setHeader(SqsHeaders.SQS_SOURCE_DATA_HEADER, source)
                .setHeader(
                        SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER,
                        new QueueAttributes("orders", "http://localhost/1/orders", Map.of()))
                .build();
    }

    @Test
    void keyThatCanNeverBeReadFailsStartupAsAlways() {
        assertThatThrownBy(() -> ListenerRig.observed(new Listeners(), "mistyped"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("names the unknown argument '#oder'");
    }
}
