package io.exactlyonce.listener.container;

import static io.exactlyonce.listener.FakeReceives.message;
import static io.exactlyonce.listener.FakeReceives.messages;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.AsyncMessageListener;
import io.awspring.cloud.sqs.listener.BackPressureMode;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.delivery.DeliveryObservers;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.CircuitBreaker;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.visibility.ScriptedStore;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.messaging.Message;
import org.springframework.retry.RetryContext;
import org.springframework.retry.backoff.BackOffContext;
import org.springframework.retry.backoff.BackOffPolicy;
import org.springframework.retry.backoff.StatelessBackOffPolicy;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;

/** A container of awspring's that starts, polls and stops with our consumer in it. */
@ExtendWith(OutputCaptureExtension.class)
class QueueConsumerTests {

    static class Listener {
        @ExactlyOnceListener(queueNames = "orders", onAbandoned = AbandonedPolicy.PARK)
        void handle(String order) {}
    }

    record Order(String number) {}

    private final FakeReceives sqs = new FakeReceives();
    private final ScriptedStore store = new ScriptedStore();
    private final DeliveryObservers observer = new DeliveryObservers(List.of());
    private final Renewer renewer =
            new Renewer(store, new RenewalSchedule(0.5, 0), observer, Runnable::run, System::nanoTime, () -> 0);
    private final Deliveries deliveries = ListenerRig.deliveries(
            renewer,
            observer,
            new RetryBackoff(Duration.ofSeconds(8), Duration.ofMinutes(5)),
            System::nanoTime,
            store,
            Runnable::run);
    private ListenerEngine engine = ListenerRig.engine(deliveries, store, Runnable::run);
    private final List<Message<Object>> handled = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Void> mayEnd = new CompletableFuture<>();
    private final SqsMessageListenerContainer<Object> container = new SqsMessageListenerContainer<>(sqs);

    private SqsMessageListenerContainer<Object> start(Consumer<SqsContainerOptionsBuilder> configurer) {
        sqs.attributes.put(QueueAttributeName.VISIBILITY_TIMEOUT, "30");
        container.setId("listener");
        container.setQueueNames("orders");
        container.configure(options -> {
            options.maxConcurrentMessages(10)
                    .pollTimeout(Duration.ofSeconds(1))
                    .listenerShutdownTimeout(Duration.ofMillis(100))
                    .acknowledgementInterval(Duration.ZERO)
                    .acknowledgementThreshold(0)
                    .queueAttributeNames(List.of(QueueAttributeName.VISIBILITY_TIMEOUT));
            configurer.accept(options);
        });
        container.setComponentFactories(
                List.of(new ConsumerComponents(engine, "listener", ListenerRig.settings(new Listener(), "handle"))));
        container.setAsyncMessageListener(new AsyncMessageListener<>() {
            @Override
            public CompletableFuture<Void> onMessage(Message<Object> message) {
                handled.add(message);
                return call(message);
            }
        });
        container.start();
        return container;
    }

    private CompletableFuture<Void> call(Message<Object> message) {
        boolean isSlow = message.getPayload().equals("slow");
        try {
            Object returned = engine.pipeline()
                    .handle(List.of(ReceivedMessage.require(message).delivery()), claimed -> isSlow ? mayEnd : null);
            return returned instanceof CompletableFuture<?> end
                    ? end.thenApply(result -> null)
                    : CompletableFuture.completedFuture(null);
        } catch (Throwable failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    @AfterEach
    void stop() {
        mayEnd.complete(null);
        container.stop();
    }

    private void awaitRequests(int count) {
        await().atMost(Duration.ofSeconds(5)).until(() -> sqs.requests().size() >= count);
    }

    private void awaitHandled(int count) {
        await().atMost(Duration.ofSeconds(5)).until(() -> handled.size() >= count);
    }

    @Test
    void messageIsReceivedHandledAndDeleted() {
        start(options -> {});
        awaitRequests(1);
        sqs.answer(0, messages("m", 2));

        await().atMost(Duration.ofSeconds(5)).until(() -> sqs.deletes().size() == 2);
        assertThat(handled).extracting(Message::getPayload).containsExactlyInAnyOrder("m0", "m1");
        awaitRequests(2);
    }

    /** Trap: awspring waits up to 10 s for as many permits as a poll may fetch, while one handler is slow. */
    @Test
    void listenerPollsWithThePermitsThatAreFreeWhileAHandlerIsSlow() {
        start(options -> {});
        awaitRequests(1);
        sqs.answer(0, message("slow", "", 1));

        awaitHandled(1);
        awaitRequests(2);
        assertThat(sqs.latest().maxNumberOfMessages()).isEqualTo(9);
        sqs.answer(1, message("next", "", 1));
        awaitHandled(2);
    }

    /** Thousands of messages that end together leave permits for hundreds of polls, and the SDK's client has 50 connections. */
    @Test
    void noMoreThanTenPollsWaitForMessagesHoweverManyPermitsThereAre() {
        start(options -> options.maxConcurrentMessages(1_000).backPressureMode(BackPressureMode.FIXED_HIGH_THROUGHPUT));
        awaitRequests(10);
        await().during(Duration.ofMillis(200)).until(() -> sqs.requests().size() == 10);

        sqs.fail(4);
        awaitRequests(11);
        sqs.answer(5);
        awaitRequests(12);
    }

    @Test
    void nothingIsPolledWhileTheGateIsClosedAndNoPermitIsKept() {
        CircuitBreaker breaker = engine.breakers().of(null);
        start(options -> {});
        awaitRequests(1);
        for (int lost = 0; lost < 3; lost++) {
            breaker.unanswered(new IllegalStateException("connection refused"));
        }
        sqs.answer(0);
        await().during(Duration.ofMillis(200)).until(() -> sqs.requests().size() == 1);

        breaker.answered();
        awaitRequests(2);
        assertThat(sqs.latest().maxNumberOfMessages()).isEqualTo(10);
    }

    @Test
    void pollThatFailsIsFollowedByOneThatBacksOff(CapturedOutput output) {
        AtomicInteger pauses = new AtomicInteger();
        BackOffPolicy stateful = new BackOffPolicy() {
            @Override
            public BackOffContext start(RetryContext unused) {
                return new BackOffContext() {};
            }

            @Override
            public void backOff(BackOffContext context) {
                pauses.incrementAndGet();
            }
        };
        start(options -> options.pollBackOffPolicy(stateful));
        awaitRequests(1);
        sqs.fail(0);
        awaitRequests(2);
        assertThat(pauses).hasValue(1);
        assertThat(output)
                .contains("Polling listener 'listener' on queue 'orders' failed; it goes on", "connection reset");

        sqs.answer(1);
        awaitRequests(3);
        assertThat(pauses).hasValue(1);
    }

    @Test
    void policyThatKeepsNothingBetweenPollsBacksOffToo() {
        AtomicInteger pauses = new AtomicInteger();
        start(options -> options.pollBackOffPolicy(new StatelessBackOffPolicy() {
            @Override
            protected void doBackOff() {
                pauses.incrementAndGet();
            }
        }));
        awaitRequests(1);
        sqs.fail(0);
        awaitRequests(2);

        assertThat(pauses).hasValue(1);
    }

    /** Trap: awspring catches no error there; its polling thread ends, and the poll's permits are lost. */
    @Test
    void pollThatCrashesGivesItsPermitsBackAndPollingGoesOn() {
        start(options -> {});
        awaitRequests(1);
        sqs.refuse(new NoClassDefFoundError("io/tracing/Span"));
        sqs.answer(0);
        await().during(Duration.ofMillis(100)).until(() -> sqs.requests().size() == 1);

        sqs.refuse(null);
        awaitRequests(2);
        assertThat(sqs.latest().maxNumberOfMessages()).isEqualTo(10);
    }

    @Test
    void payloadIsReadAsTheTypeThatTheHandlerTakes() {
        container.setPayloadDeserializationType(Order.class);
        start(options -> {});
        awaitRequests(1);
        sqs.answer(
                0, message("m", "", 1).toBuilder().body("{\"number\":\"A-1\"}").build());

        awaitHandled(1);
        assertThat(handled).extracting(Message::getPayload).containsExactly(new Order("A-1"));
    }

    @Test
    void messageCarriesTheAttributesOfItsQueueAndWhatChangesItsVisibility() {
        start(options -> {});
        awaitRequests(1);
        sqs.answer(0, messages("m", 1));

        awaitHandled(1);
        assertThat(handled.get(0).getHeaders().get(SqsHeaders.SQS_QUEUE_ATTRIBUTES_HEADER, QueueAttributes.class))
                .satisfies(queue -> {
                    assertThat(queue.getQueueName()).isEqualTo("orders");
                    assertThat(queue.getQueueAttribute(QueueAttributeName.VISIBILITY_TIMEOUT))
                            .isEqualTo("30");
                });
        assertThat(handled.get(0).getHeaders()).containsKey(SqsHeaders.SQS_VISIBILITY_TIMEOUT_HEADER);
    }

    /** As a server other than AWS may number its messages. */
    @Test
    void idThatIsNoUuidIsReadIfTheContainerSaysSo() {
        start(options -> options.convertMessageIdToUuid(false));
        awaitRequests(1);
        sqs.answer(0, message("m", "", 1).toBuilder().messageId("id-1").build());

        awaitHandled(1);
        assertThat(handled.get(0).getHeaders().getId()).isEqualTo(UUID.nameUUIDFromBytes("id-1".getBytes()));
    }

    @Test
    void idThatIsNoUuidIsRefusedOtherwise() {
        start(options -> {});
        awaitRequests(1);
        sqs.answer(0, message("bad", "", 1).toBuilder().messageId("id-1").build(), message("good", "", 1));

        awaitHandled(1);
        assertThat(handled).extracting(Message::getPayload).containsExactly("good");
        assertThat(sqs.takeChanges()).containsOnlyKeys("bad");
    }

    @Test
    void listenerThatStopsWaitsForItsHandlersAndTheirDeletes() throws Exception {
        start(options -> options.listenerShutdownTimeout(Duration.ofSeconds(20)));
        awaitRequests(1);
        sqs.answer(0, message("slow", "", 1));
        awaitHandled(1);
        awaitRequests(2);
        CompletableFuture<Void> stopped = CompletableFuture.runAsync(container::stop);
        await().during(Duration.ofMillis(100)).until(() -> !stopped.isDone());

        sqs.answer(1);
        mayEnd.complete(null);

        stopped.get();
        assertThat(sqs.deletes()).containsExactly(List.of("slow"));
        assertThat(renewer.inFlight()).isZero();
    }

    @Test
    void messagesThatArriveWhileTheListenerStopsAreVisibleAtOnce() {
        start(options -> options.listenerShutdownTimeout(Duration.ofSeconds(20)));
        awaitRequests(1);
        CompletableFuture<Void> stopped = CompletableFuture.runAsync(container::stop);
        await().until(() -> !container.isRunning());
        await().during(Duration.ofMillis(100)).until(() -> !stopped.isDone());

        sqs.answer(0, messages("m", 1));

        stopped.join();
        assertThat(handled).isEmpty();
        assertThat(sqs.takeChanges()).containsEntry("m0", 0);
    }

    @Test
    void messagesThatArriveAfterTheListenerHasStoppedAreVisibleAtOnce(CapturedOutput output) {
        start(options -> {});
        awaitRequests(1);
        container.stop();
        assertThat(output).contains("is stopping, and has handlers or polls that have not ended after");

        sqs.answer(0, message("m", "", 3));

        assertThat(handled).isEmpty();
        assertThat(sqs.takeChanges()).containsEntry("m", 0);
        assertThat(renewer.inFlight()).isZero();
    }

    @Test
    void listenerThatIsStartedAgainPollsAgain() {
        start(options -> {});
        awaitRequests(1);
        container.stop();
        container.start();
        awaitRequests(2);
        sqs.answer(1, messages("m", 1));

        awaitHandled(1);
    }

    @Test
    void nothingIsPolledBeforeClaimsAreKnownToBeKept() {
        engine = new ListenerEngine(
                engine.pipeline(),
                deliveries,
                engine.breakers(),
                observer,
                System::nanoTime,
                engine.timer(),
                audited -> {},
                ListenerRig.START_LINE,
                () -> {},
                () -> {
                    throw new InvalidListenerException("no table", "make one");
                });

        assertThatThrownBy(() -> start(options -> {})).hasRootCauseInstanceOf(InvalidListenerException.class);

        assertThat(sqs.requests()).isEmpty();
    }

    @Test
    void eachRequestAsksForWhatTheContainerIsConfiguredFor() {
        start(options -> options.pollTimeout(Duration.ofMillis(2_900)).messageVisibility(Duration.ofSeconds(7)));
        awaitRequests(1);

        ReceiveMessageRequest request = sqs.latest();
        assertThat(request.waitTimeSeconds()).isEqualTo(2);
        assertThat(request.visibilityTimeout()).isEqualTo(7);
        assertThat(request.messageAttributeNames()).contains("All");
    }
}
