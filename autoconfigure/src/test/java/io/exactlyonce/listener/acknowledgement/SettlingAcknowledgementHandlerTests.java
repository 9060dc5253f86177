package io.exactlyonce.listener.acknowledgement;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementCallback;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.coalescing.ExecutorClaimStore;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.TestResults;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.FakeTimer;
import io.exactlyonce.visibility.ScriptedStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.Message;

class SettlingAcknowledgementHandlerTests {

    private final ScriptedStore store = new ScriptedStore();
    private final FakeClock clock = new FakeClock();
    private final DeliveryObserver noObserver = new DeliveryObserver() {};
    private final RetryBackoff backoff = new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5));
    private final Deliveries deliveries = new Deliveries(
            new RenewalSupervisor(store, new RenewalSchedule(0.5, 0, 3), noObserver, Runnable::run, clock, () -> 0),
            noObserver,
            backoff,
            clock,
            () -> 0,
            10);
    private final Delivery delivery = ListenerRig.delivery();
    private final Message<String> message =
            new ReceivedMessage(delivery, null, "", "body").attachTo(ListenerRig.message(Map.of()), Map.of());
    private final SettlingAcknowledgementHandler<String> handler = new SettlingAcknowledgementHandler<>(deliveries);
    private final List<Message<String>> acknowledged = new ArrayList<>();
    private final AcknowledgementCallback<String> callback = new AcknowledgementCallback<>() {
        @Override
        public CompletableFuture<Void> onAcknowledge(Message<String> each) {
            acknowledged.add(each);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<Void> onAcknowledge(Collection<Message<String>> batch) {
            acknowledged.addAll(batch);
            return CompletableFuture.completedFuture(null);
        }
    };

    @BeforeEach
    void begin() {
        deliveries.begin(List.of(delivery));
    }

    @Test
    void completedDeliveryIsAcknowledgedOnce() throws Throwable {
        process();

        assertThat(handler.onSuccess(message, callback)).isCompleted();
        assertThat(handler.onSuccess(message, callback)).isCompleted();

        assertThat(acknowledged).containsExactly(message);
    }

    /** An interceptor may fail after the handler; the effect is on record nevertheless. */
    @Test
    void completedDeliveryIsAcknowledgedAlthoughItsPipelineFailed() throws Throwable {
        process();

        assertThat(handler.onError(message, new IllegalStateException(), callback))
                .isCompleted();

        assertThat(acknowledged).containsExactly(message);
    }

    @Test
    void pipelineThatSucceededWithoutACompletionAcknowledgesNothing() throws Throwable {
        store.onClaim(() -> new HeldElsewhere(Duration.ofSeconds(10)));
        process();

        assertThat(handler.onSuccess(message, callback)).isCompleted();

        assertThat(acknowledged).isEmpty();
    }

    @Test
    void errorHandlerThatHidesAFailureAcknowledgesNothing() {
        assertThat(handler.onSuccess(message, callback)).isCompleted();

        assertThat(acknowledged).isEmpty();
    }

    @Test
    void ofABatchWhatIsCompletedIsAcknowledgedHoweverThePipelineEnded() throws Throwable {
        Delivery failed = ListenerRig.delivery();
        deliveries.begin(List.of(failed));
        Message<String> other =
                new ReceivedMessage(failed, null, "", "body").attachTo(ListenerRig.message(Map.of()), Map.of());
        process();

        assertThat(handler.onError(List.of(other, message), new IllegalStateException(), callback))
                .isCompleted();
        assertThat(handler.onSuccess(List.of(other, message), callback)).isCompleted();

        assertThat(acknowledged).containsExactly(message);
    }

    @Test
    void messageWithoutADeliveryIsNotAcknowledged() {
        assertThat(handler.onSuccess(ListenerRig.message(Map.of()), callback)).isCompleted();

        assertThat(acknowledged).isEmpty();
    }

    private void process() throws Throwable {
        DeliveryPipeline pipeline = new DeliveryPipeline(
                new ClaimWriter(store, new ExecutorClaimStore(store, Runnable::run), new FakeTimer()),
                new ClaimSettings("worker", null),
                backoff,
                TestResults.writing(Object::toString),
                noObserver,
                clock,
                () -> 0,
                Runnable::run);
        List<Attempt> attempts = List.of(
                Attempt.single(delivery, new ClaimSpec(new ClaimKey("orders", "A-1"), null, InDoubtPolicy.RERUN)));
        ClaimWriter.await(pipeline.claim(attempts));
        pipeline.admit(attempts);
        var unused = pipeline.process(attempts, claimed -> CompletableFuture.completedFuture(null));
    }
}
