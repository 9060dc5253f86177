package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementCallback;
import io.awspring.cloud.sqs.listener.pipeline.MessageProcessingPipeline;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.MessageOrigin;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.listener.permits.HandlerSlots;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.ScriptedStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.messaging.Message;

/** Deliveries are received, their listener begins to stop, and only then is there a thread for them. */
class SettlingPipelineTests {

    private final FakeClock clock = new FakeClock();
    private final DeliveryObserver noObserver = new DeliveryObserver() {};
    private final Deliveries deliveries = new Deliveries(
            new RenewalSupervisor(
                    new ScriptedStore(), new RenewalSchedule(0.5, 0, 3), noObserver, Runnable::run, clock, () -> 0),
            noObserver,
            new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5)),
            clock,
            () -> 0,
            10);
    private final List<List<Message<String>>> deleted = new ArrayList<>();
    private final MessageProcessingContext<String> context = MessageProcessingContext.<String>create()
            .setAcknowledgmentCallback(new AcknowledgementCallback<>() {
                @Override
                public CompletableFuture<Void> onAcknowledge(Message<String> message) {
                    return onAcknowledge(List.of(message));
                }

                @Override
                public CompletableFuture<Void> onAcknowledge(Collection<Message<String>> messages) {
                    deleted.add(List.copyOf(messages));
                    return CompletableFuture.completedFuture(null);
                }
            });
    private final ScriptedStore store = new ScriptedStore();
    private final ListenerEngine engine = ListenerRig.engine(deliveries, store, Runnable::run);
    private final List<Message<String>> processed = new ArrayList<>();
    private final List<CompletableFuture<?>> recording = new ArrayList<>();
    private final MessageOrigin origin = new MessageOrigin() {
        @Override
        public CompletableFuture<Boolean> givesUp(Delivery delivery) {
            return UnknownOrigin.INSTANCE.givesUp(delivery);
        }

        @Override
        public HandlerSlots slots() {
            return UnknownOrigin.INSTANCE.slots();
        }

        @Override
        public void recording(CompletableFuture<?> settled) {
            recording.add(settled);
        }
    };
    private int calls;
    private RuntimeException failure;
    private Error crash;
    private final SettlingPipeline<String> pipeline = new SettlingPipeline<>(
            new MessageProcessingPipeline<>() {
                @Override
                public CompletableFuture<Message<String>> process(
                        Message<String> message, MessageProcessingContext<String> context) {
                    processed.add(message);
                    if (failure != null) {
                        throw failure;
                    }
                    if (crash != null) {
                        throw crash;
                    }
                    return CompletableFuture.completedFuture(message);
                }

                @Override
                public CompletableFuture<Collection<Message<String>>> process(
                        Collection<Message<String>> messages, MessageProcessingContext<String> context) {
                    processed.addAll(messages);
                    calls++;
                    return CompletableFuture.completedFuture(messages);
                }
            },
            engine);

    private Message<String> receive() {
        return receive("");
    }

    private Message<String> receive(String group) {
        Delivery delivery = ListenerRig.delivery();
        deliveries.begin(List.of(delivery));
        ReceivedMessage received = new ReceivedMessage(delivery, null, "", "body", origin);
        received.attempt(Attempt.ofBatch(
                delivery, group, new ClaimSpec(new ClaimKey("orders", "A-1"), null, InDoubtPolicy.RERUN)));
        return received.attachTo(ListenerRig.message(Map.of()), Map.of());
    }

    private void stopListenerOf(Message<String> message) {
        deliveries
                .stop(ReceivedMessage.require(message).delivery().subscription())
                .begin();
    }

    @Test
    void returnedMessageIsLeftOut() {
        Message<String> returned = receive();
        Message<String> other = receive();
        stopListenerOf(returned);

        assertThat(pipeline.process(returned, context)).isCompleted();
        assertThat(pipeline.process(other, context)).isCompleted();

        assertThat(processed).containsExactly(other);
    }

    @Test
    void messageOfABatchThatWasReturnedStopsTheRestOfItsGroupWhichMustNotOvertakeIt() {
        Message<String> returned = receive("a");
        stopListenerOf(returned);
        Message<String> laterOfItsGroup = receive("a");
        Message<String> other = receive("b");

        assertThat(pipeline.process(List.of(returned, laterOfItsGroup, other), context))
                .isCompleted();
        assertThat(pipeline.process(List.of(returned), context)).isCompleted();

        assertThat(processed).containsExactly(other);
    }

    @Test
    void whatIsNotHeldGoesNoFurtherAndIsSettledWhenThatIsKnown() {
        Message<String> duplicate = receive();
        store.onClaim(() -> new AlreadyCompleted(null));

        assertThat(pipeline.process(duplicate, context)).isCompleted();

        assertThat(processed).isEmpty();
        assertThat(delivery(duplicate).state()).isEqualTo(DeliveryState.DELETING);
    }

    @Test
    void duplicatesOfABatchAreDeletedTogetherAndNoHandlerIsCalledForNone() {
        Message<String> one = receive();
        Message<String> two = receive();
        store.onClaim(() -> new AlreadyCompleted(null));
        store.onClaim(() -> new AlreadyCompleted(null));

        assertThat(pipeline.process(List.of(one, two), context)).isCompleted();

        assertThat(calls).isZero();
        assertThat(deleted).containsExactly(List.of(one, two));
    }

    /** SQS refuses a request to delete nothing. */
    /** Or outcomes without an end would gather behind polls while the store is slow. */
    @Test
    void pollIsToldOnceOfABatchWhoseOutcomeIsToBeRecorded() {
        pipeline.process(List.of(receive(), receive()), context);

        assertThat(recording)
                .singleElement()
                .satisfies(settled -> assertThat(settled).isCompleted());
    }

    @Test
    void nothingIsDeletedOfABatchThatComesAgain() {
        assertThat(pipeline.process(List.of(receive(), receive()), context)).isCompleted();

        assertThat(calls).isOne();
        assertThat(deleted).isEmpty();
    }

    /** Its key is claimed in the transaction of its effects, or they could be committed without it. */
    @Test
    void keyThatATransactionClaimsIsNotClaimedBefore() {
        Delivery delivery = ListenerRig.delivery();
        deliveries.begin(List.of(delivery));
        ReceivedMessage received = new ReceivedMessage(delivery, null, "", "body", UnknownOrigin.INSTANCE);
        ClaimSpec spec = new ClaimSpec(
                new ClaimKey("orders", "A-1"),
                null,
                InDoubtPolicy.RERUN,
                DeliveryRig.single((request, work) -> new AlreadyCompleted(null)));
        received.attempt(Attempt.single(delivery, spec));
        Message<String> message = received.attachTo(ListenerRig.message(Map.of()), Map.of());

        pipeline.process(message, context);

        assertThat(processed).containsExactly(message);
        assertThat(store.claims()).isEmpty();
    }

    @Test
    void messageWhosePipelineThrowsIsReturnedAndItsClaimGivenBack() {
        Message<String> message = receive();
        failure = new IllegalStateException("no thread for an interceptor");

        assertThat(pipeline.process(message, context)).isCompletedExceptionally();

        assertThat(store.releases()).hasSize(1);
        assertThat(delivery(message).state()).isEqualTo(DeliveryState.RETURNED);
        assertThat(delivery(message).gone()).isCompleted();
    }

    @Test
    void messageWhosePipelineCrashesIsAbandonedWithItsClaimAndItsPermitIsFree() {
        Message<String> message = receive();
        crash = new OutOfMemoryError("simulated");

        assertThat(pipeline.process(message, context)).isCompletedExceptionally();

        assertThat(store.releases()).isEmpty();
        assertThat(deleted).isEmpty();
        assertThat(delivery(message).state()).isEqualTo(DeliveryState.ABANDONED);
    }

    @Test
    void claimOfAMessageThatAnInterceptorDropsIsGivenBackBeforeItIsReturned() {
        Message<String> dropped = receive();

        assertThat(pipeline.process(dropped, context)).isCompleted();

        assertThat(processed).containsExactly(dropped);
        assertThat(store.releases()).singleElement().matches(release -> !release.ambiguous());
        assertThat(delivery(dropped).state()).isEqualTo(DeliveryState.RETURNED);
    }

    @Test
    void claimThatWasMadeAheadIsNotMadeAgainAndItsLeaseIsLookedAt() {
        Message<String> held = receive();
        Message<String> late = receive();
        ClaimWriter.await(engine.pipeline().claimAhead(SettlingPipeline.attempts(List.of(held, late))));
        pipeline.process(held, context);
        clock.advance(Duration.ofMinutes(1));
        pipeline.process(late, context);

        assertThat(processed).containsExactly(held);
        assertThat(store.claims()).hasSize(2);
        assertThat(store.releases()).hasSize(2);
        assertThat(delivery(late).state()).isEqualTo(DeliveryState.RETURNED);
    }

    private static Delivery delivery(Message<?> message) {
        return ReceivedMessage.require(message).delivery();
    }
}
