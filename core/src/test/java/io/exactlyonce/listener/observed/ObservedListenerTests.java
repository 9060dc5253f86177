package io.exactlyonce.listener.observed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.listener.AsyncMessageListener;
import io.awspring.cloud.sqs.listener.ListenerExecutionFailedException;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.exactlyonce.BatchResult;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.FailedItems;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.observed.NotObserved;
import io.exactlyonce.observed.ObservationCounter;
import io.exactlyonce.observed.ObservedClaims;
import io.exactlyonce.observed.ObservedOutcome;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageBuilder;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/** Tests what an observed listener receives, and what the observation records. */
class ObservedListenerTests {

    static class Orders {
        @ExactlyOnceListener(queueNames = "orders", key = "#order.toUpperCase()")
        void handle(String order) {}

        @ExactlyOnceListener(queueNames = "orders")
        void unnamed(String order) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#payload", scope = "shop")
        void batch(List<Message<String>> orders) {}

        @ExactlyOnceListener(
                queueNames = "orders",
                key = "#headers['id-of-order']",
                whenKeyMissing = MissingKeyPolicy.SKIP)
        void skipping(String order) {}

        @ExactlyOnceListener(
                queueNames = "orders",
                key = "#headers['id-of-order']",
                whenKeyMissing = MissingKeyPolicy.RUN_UNPROTECTED)
        void unprotected(String order) {}

        @ExactlyOnceListener(queueNames = "orders", key = "#headers['id-of-order']")
        void refusing(String order) {}
    }

    /** A listener that records its messages, and returns the scripted results of the test. */
    private static final class Scripted implements AsyncMessageListener<String> {

        private final List<Object> given = new ArrayList<>();
        private CompletableFuture<Void> end = CompletableFuture.completedFuture(null);
        private @Nullable RuntimeException thrown;

        @Override
        public CompletableFuture<Void> onMessage(Message<String> message) {
            return answer(message);
        }

        @Override
        public CompletableFuture<Void> onMessage(Collection<Message<String>> messages) {
            return answer(messages);
        }

        private CompletableFuture<Void> answer(Object asked) {
            given.add(asked);
            if (thrown != null) {
                throw thrown;
            }
            return end;
        }
    }

    private final ScriptedStore store = new ScriptedStore();
    private final List<String> seen = new ArrayList<>();
    private final Scripted original = new Scripted();
    private final ObservedListener<String> listener = listener("handle");

    private ObservedListener<String> listener(String method) {
        return listener(method, 10, new ObservationCounter() {
            @Override
            public void observed(ListenerQueue queue, ClaimKey key, ObservedOutcome outcome) {
                seen.add(queue.queue() + " " + key.scope() + "/" + key.key() + " " + outcome.tag());
            }

            @Override
            public void notObserved(ListenerQueue queue, NotObserved reason, @Nullable Throwable failure) {
                seen.add(queue.queue() + " unobserved " + reason.tag());
            }
        });
    }

    private ObservedListener<String> listener(String method, int most, ObservationCounter counter) {
        ObservedClaims claims = new ObservedClaims(
                store,
                new OutcomePolicy(
                        new ClaimSettings("worker", null),
                        new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5))),
                () -> {},
                List.of(counter),
                Runnable::run,
                most);
        return new ObservedListener<>(
                original,
                ListenerRig.observed(new Orders(), method),
                claims,
                new ListenerQueue("fulfilment", "orders"),
                VisibilityWindow.ofSeconds(30),
                url -> {},
                () -> true);
    }

    private static Message<String> message(String payload) {
        return message(payload, Map.of());
    }

    private static Message<String> message(String payload, Map<String, MessageAttributeValue> attributes) {
        var source = software.amazon.awssdk.services.sqs.model.Message.builder()
                .messageId("id-of-" + payload)
                .receiptHandle("receipt-of-" + payload)
                .body("body of " + payload)
                .messageAttributes(attributes)
                .build();
        return MessageBuilder.withPayload(payload)
                .setHeader(SqsHeaders.SQS_SOURCE_DATA_HEADER, source)
                .setHeader(
                        SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER,
                        new QueueAttributes("any", "http://sqs.example.com/000000000000/orders-eu", Map.of()))
                .build();
    }

    /** Calls the listener as Spring Cloud AWS does, after an application's interceptor replaced the message. */
    private CompletableFuture<Void> handle(Message<String> polled, Message<String> intercepted) {
        assertThat(listener.intercept(polled)).isCompletedWithValueMatching(same -> same == polled);
        return listener.onMessage(intercepted);
    }

    @Test
    void listenerIsGivenTheSameMessageAndItsFutureIsHandedOnAsItIs() {
        Message<String> polled = message("o1");
        original.end = new CompletableFuture<>();

        assertThat(handle(polled, polled)).isSameAs(original.end);

        assertThat(original.given).hasSize(1);
        assertThat(original.given.get(0)).isSameAs(polled);
        assertThat(seen).containsExactly("orders-eu orders-eu/O1 alone");
        assertThat(store.claims().get(0).fingerprint()).isEqualTo(ClaimKey.sha256("body of o1"));
        assertThat(store.completions()).isEmpty();
        original.end.complete(null);
        assertThat(store.completions()).hasSize(1);
    }

    @Test
    void failureOfTheFutureReleasesAndIsHandedOnAsItIs() {
        IllegalStateException failure = new IllegalStateException("card declined");
        original.end = CompletableFuture.failedFuture(failure);
        Message<String> polled = message("o1");

        assertThat(handle(polled, polled)).isSameAs(original.end);

        assertThat(store.releases())
                .extracting(ClaimResolution.Released::error)
                .containsExactly("java.lang.IllegalStateException");
        assertThat(store.completions()).isEmpty();
    }

    @Test
    void exceptionOfTheListenerItselfIsThrownOnAsItIs() {
        original.thrown = new IllegalStateException("rejected");
        Message<String> polled = message("o1");

        assertThatThrownBy(() -> handle(polled, polled)).isSameAs(original.thrown);

        assertThat(store.releases()).hasSize(1);
    }

    /** Observed and enforced listeners follow the same rule: a message that an interceptor replaces keeps its key. */
    @Test
    void keyIsOfTheMessageAsItWasPolled() {
        Message<String> polled = message("o1");

        handle(
                polled,
                MessageBuilder.withPayload("decrypted")
                        .copyHeaders(polled.getHeaders())
                        .build());

        assertThat(seen).containsExactly("orders-eu orders-eu/O1 alone");
    }

    @Test
    void whatWasReadOfAMessageThatNeverReachedItsListenerIsForgottenWithTheNext() {
        listener.intercept(message("o1"));
        listener.intercept(message("o2"));

        listener.onMessage(MessageBuilder.withPayload("other")
                .copyHeaders(message("o1").getHeaders())
                .build());

        assertThat(seen).containsExactly("orders-eu orders-eu/OTHER alone");
    }

    @Test
    void interceptorThatDropsHeadersOfSpringCloudAwsLeavesNothingToObserve() {
        Message<String> bare = MessageBuilder.withPayload("o1").build();

        handle(message("o1"), bare);

        assertThat(original.given).containsExactly(bare);
        assertThat(seen).containsExactly("orders unobserved message");
        assertThat(store.claims()).isEmpty();
    }

    @Test
    void senderCannotStandInForHeadersOfSpringCloudAws() {
        Message<String> polled = message("o1");
        Message<String> forged = MessageBuilder.fromMessage(polled)
                .setHeader(SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER, "http://sqs.example.com/000000000000/payments")
                .build();

        handle(forged, forged);

        assertThat(seen).containsExactly("orders unobserved message");
    }

    @Test
    void keyThatCannotBeReadIsCountedAndTheHandlerCalled() {
        ObservedListener<String> keyed = listener("unnamed");
        Message<String> binary = message(
                "o1",
                Map.of(
                        "ExactlyOnce-Key",
                        MessageAttributeValue.builder().dataType("Binary").build()));

        keyed.intercept(binary);
        keyed.onMessage(binary);

        assertThat(original.given).containsExactly(binary);
        assertThat(seen).containsExactly("orders-eu unobserved key");
    }

    /** A handler in observe mode receives the same messages as without the library. */
    @Test
    void messageWithoutAKeyIsHandledAndCountedByItsPolicy() {
        for (String method : List.of("skipping", "unprotected", "refusing")) {
            ObservedListener<String> keyless = listener(method);
            Message<String> message = message("o1");
            keyless.intercept(message);
            keyless.onMessage(message);
        }

        assertThat(original.given).hasSize(3);
        assertThat(seen)
                .containsExactly(
                        "orders-eu unobserved skipped", "orders-eu unobserved unprotected", "orders-eu unobserved key");
        assertThat(store.claims()).isEmpty();
    }

    @Test
    void messagesOfABatchAreObservedEach() {
        List<Message<String>> batch = List.of(message("o1"), message("o2"), message("o3"));
        ObservedListener<String> several = listener("batch");
        assertThat(several.intercept(batch)).isCompletedWithValueMatching(same -> same == batch);

        several.onMessage(batch);

        assertThat(original.given.get(0)).isSameAs(batch);
        assertThat(seen)
                .containsExactly("orders-eu shop/o1 alone", "orders-eu shop/o2 alone", "orders-eu shop/o3 alone");
        assertThat(store.completions()).hasSize(3);
    }

    @Test
    void messagesOfABatchThatItsHandlerNamesAreReleasedAndTheOthersCompleted() {
        original.end = CompletableFuture.failedFuture(
                new CompletionException(new ListenerExecutionFailedException("failed", failed(3, 1), message("o1"))));

        listener("batch").onMessage(List.of(message("o1"), message("o2"), message("o3")));

        assertThat(store.completions())
                .extracting(resolution -> resolution.claim().key().key())
                .containsExactly("o1", "o3");
        assertThat(store.releases())
                .extracting(resolution -> resolution.claim().key().key())
                .containsExactly("o2");
    }

    private static FailedItems failed(int size, int... indexes) {
        BatchResult result = BatchResult.allSucceeded();
        for (int index : indexes) {
            result = result.andFailed(index, new IllegalStateException("no carrier"));
        }
        return Objects.requireNonNull(FailedItems.in(result, "The handler", size));
    }

    /**
     * The handler's exception may stand for a transaction that rolled back the effects of all messages. In enforce
     * mode, the engine also fails all messages.
     */
    @Test
    void namesInAnExceptionOfTheHandlersOwnOrBeyondTheBatchFailAllOfIt() {
        original.end = CompletableFuture.failedFuture(new ListenerExecutionFailedException(
                "failed", new IllegalStateException("undone", failed(2, 1)), message("o1")));

        listener("batch").onMessage(List.of(message("o1"), message("o2")));
        original.end = CompletableFuture.failedFuture(failed(2, 0, 2));
        listener("batch").onMessage(List.of(message("o3"), message("o4")));

        assertThat(store.completions()).isEmpty();
        assertThat(store.releases()).hasSize(4);
    }

    @Test
    void handlerIsCalledWhateverObserversThrow() {
        ObservedListener<String> observed = listener("handle", 0, new ObservationCounter() {
            @Override
            public void notObserved(ListenerQueue queue, NotObserved reason, @Nullable Throwable failure) {
                throw new IllegalStateException("an observer's");
            }
        });
        Message<String> bare = MessageBuilder.withPayload("bare").build();
        Message<String> beyondTheBound = message("o1");

        assertThat(observed.onMessage(bare)).isSameAs(original.end);
        assertThat(observed.onMessage(beyondTheBound)).isSameAs(original.end);

        assertThat(original.given).containsExactly(bare, beyondTheBound);
    }
}
