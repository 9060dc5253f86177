package io.exactlyonce.listener.container;

import static io.exactlyonce.listener.FakeReceives.message;
import static io.exactlyonce.listener.FakeReceives.messages;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.MessageProcessingContext;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementOrdering;
import io.awspring.cloud.sqs.listener.acknowledgement.AsyncAcknowledgementResultCallback;
import io.awspring.cloud.sqs.listener.backpressure.BackPressureHandlerFactories;
import io.awspring.cloud.sqs.listener.sink.MessageSink;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.waiting.StoreCircuitBreaker;
import io.exactlyonce.delivery.waiting.StoreCircuitBreakers;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.acknowledgement.DeleteBuffer;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ContainerSettings;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.listener.permits.PausingBackPressureHandler;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.time.Timer;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.ScriptedStore;
import io.exactlyonce.visibility.Subscription;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.messaging.Message;
import org.springframework.messaging.converter.MessageConversionException;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesResponse;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;

/** What a source asks SQS for, and from when on the windows of what it gets count. Renewals come at half a window. */
@ExtendWith(OutputCaptureExtension.class)
class DeliveryMessageSourceTests {

    private static final Duration POLL_TIMEOUT = Duration.ofSeconds(10);
    private static final String POLICY =
            "{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:1:dlq\",\"maxReceiveCount\":%d}";

    private final FakeClock clock = new FakeClock();
    private final FakeReceives sqs = new FakeReceives();
    private Throwable unreadable = new MessageConversionException("unreadable");
    private final List<Subscription> subscribed = new ArrayList<>();
    private @Nullable Error failing;
    private final DeliveryObserver observer = new DeliveryObserver() {
        @Override
        public void inFlight(Subscription subscription, int change) {
            if (failing != null && change > 0) {
                throw failing;
            }
        }

        @Override
        public void subscribed(Subscription subscription) {
            subscribed.add(subscription);
        }
    };
    private final RenewalSupervisor supervisor = new RenewalSupervisor(
            new ScriptedStore(), new RenewalSchedule(0.5, 0, 3), observer, Runnable::run, clock, () -> 0);
    private final Deliveries deliveries = new Deliveries(
            supervisor, observer, new RetryBackoff(Duration.ofSeconds(4), Duration.ofMinutes(5)), clock, () -> 0, 10);

    private DeliveryMessageSource<String> start(String queue, int windowSeconds) {
        return start(queue, windowSeconds, options -> {});
    }

    private DeliveryMessageSource<String> start(
            String queue, int windowSeconds, Consumer<SqsContainerOptionsBuilder> configurer) {
        setWindow(windowSeconds);
        SqsContainerOptionsBuilder builder = SqsContainerOptions.builder()
                .pollTimeout(POLL_TIMEOUT)
                .maxConcurrentMessages(100)
                .maxMessagesPerPoll(20)
                .listenerShutdownTimeout(Duration.ofMillis(10))
                .queueAttributeNames(List.of(QueueAttributeName.VISIBILITY_TIMEOUT, QueueAttributeName.REDRIVE_POLICY))
                .messageConverter(new Converter())
                .acknowledgementOrdering(AcknowledgementOrdering.PARALLEL)
                .acknowledgementInterval(Duration.ofSeconds(1))
                .acknowledgementThreshold(10)
                .acknowledgementShutdownTimeout(Duration.ofMillis(10));
        configurer.accept(builder);
        SqsContainerOptions options = builder.build();
        DeliveryMessageSource<String> source = new DeliveryMessageSource<>(
                new ListenerEngine(
                        ListenerRig.engine(deliveries).pipeline(),
                        deliveries,
                        new StoreCircuitBreakers(observer),
                        observer,
                        clock,
                        Timer.SYSTEM,
                        audited -> {},
                        ListenerRig.START_LINE,
                        () -> {},
                        () -> {}),
                "listener",
                new ContainerSettings());
        source.setId("listener-0");
        source.setSqsAsyncClient(sqs);
        source.setPollingEndpointName(queue);
        source.configure(options);
        source.setMessageSink(new NoSink());
        source.setTaskExecutor(polling -> {});
        source.setBackPressureHandler(PausingBackPressureHandler.around(
                        BackPressureHandlerFactories.concurrencyLimiterBackPressureHandler(),
                        new StoreCircuitBreaker(observer),
                        true,
                        clock)
                .createBackPressureHandler(options));
        DeleteBuffer<String> acknowledgements = new DeleteBuffer<>(Timer.SYSTEM, false);
        acknowledgements.configure(options);
        source.setAcknowledgementProcessor(acknowledgements);
        source.setAcknowledgementResultCallback(new AsyncAcknowledgementResultCallback<>() {});
        source.start();
        return source;
    }

    private void setWindow(int seconds) {
        sqs.attributes.put(QueueAttributeName.VISIBILITY_TIMEOUT, String.valueOf(seconds));
    }

    private void setMaxReceiveCount(int most) {
        sqs.attributes.put(QueueAttributeName.REDRIVE_POLICY, POLICY.formatted(most));
    }

    /** Does what awspring does with the answer to a poll. */
    private List<String> begin(
            DeliveryMessageSource<String> source,
            CompletableFuture<Collection<software.amazon.awssdk.services.sqs.model.Message>> poll) {
        assertThat(poll).isCompleted();
        Collection<Message<String>> messages = source.convertMessages(poll.join());
        deliveries.begin(messages.stream()
                .map(message -> ReceivedMessage.require(message).delivery())
                .toList());
        return messages.stream().map(Message::getPayload).toList();
    }

    private Map<String, Integer> renewedAfter(Duration time) {
        clock.advance(time);
        supervisor.tick();
        return sqs.takeChanges();
    }

    @Test
    void windowOfEachMessageCountsFromItsOwnRequestHoweverLongAnotherOfItsPollTakes() {
        DeliveryMessageSource<String> source = start("orders", 6);
        var poll = source.doPollForMessages(20);
        clock.advance(Duration.ofSeconds(5));
        sqs.answer(0, messages("early", 10));
        clock.advance(Duration.ofSeconds(1));
        sqs.answer(1, messages("late", 1));
        assertThat(begin(source, poll)).hasSize(11);

        assertThat(renewedAfter(Duration.ofMillis(1_799))).isEmpty();
        assertThat(renewedAfter(Duration.ofMillis(1))).containsEntry("early9", 6);
    }

    @Test
    void windowThatEndedWhileAnotherRequestOfItsPollWasSlowIsNeitherRenewedNorTakenForFresh(CapturedOutput output) {
        DeliveryMessageSource<String> source = start("orders", 6);
        var poll = source.doPollForMessages(20);
        sqs.answer(0, messages("early", 10));
        clock.advance(Duration.ofSeconds(10));
        sqs.answer(1);
        begin(source, poll);

        assertThat(renewedAfter(Duration.ofSeconds(4))).isEmpty();
        assertThat(output).contains("is lost: the message may be delivered again");
    }

    @Test
    void whatOneRequestOfAPollBroughtIsHandledAlthoughAnotherFails(CapturedOutput output) {
        DeliveryMessageSource<String> source = start("orders", 30);
        var poll = source.doPollForMessages(20);
        sqs.answer(0, messages("m", 10));
        sqs.fail(1);

        assertThat(begin(source, poll)).hasSize(10);
        assertThat(output).contains("One of several receives of listener 'listener' on queue 'orders' failed");
    }

    /** Nothing renews them before their poll is done. */
    @Test
    void messagesDoNotWaitForARequestThatHangsAndWhatItBringsLaterIsReturned() {
        DeliveryMessageSource<String> source = start("orders", 1);
        var poll = source.doPollForMessages(20);
        sqs.answer(0, messages("m", 10));

        await().atMost(Duration.ofSeconds(5)).until(poll::isDone);
        assertThat(begin(source, poll)).hasSize(10);
        sqs.answer(1, messages("late", 1));
        assertThat(sqs.takeChanges()).containsExactly(Map.entry("late0", 0));
    }

    @Test
    void pollsThatWaitForMessagesCountUntilTheyAreAnswered() throws Exception {
        DeliveryMessageSource<String> source = start("orders", 30);
        var permits = (PausingBackPressureHandler) PausingBackPressureHandler.around(
                        BackPressureHandlerFactories.concurrencyLimiterBackPressureHandler(),
                        new StoreCircuitBreaker(observer),
                        true,
                        clock)
                .createBackPressureHandler(SqsContainerOptions.builder()
                        .maxConcurrentMessages(1_000)
                        .build());
        source.setBackPressureHandler(permits);
        for (int poll = 0; poll < 10; poll++) {
            source.doPollForMessages(10);
        }

        assertThat(permits.requestBatch()).isZero();
        sqs.answer(4);
        assertThat(permits.requestBatch()).isEqualTo(10);
        source.doPollForMessages(10);
        assertThat(permits.requestBatch()).isZero();
        sqs.fail(5);
        assertThat(permits.requestBatch()).isEqualTo(10);
        source.doPollForMessages(10).cancel(true);
        assertThat(permits.requestBatch()).as("a poll that is cancelled").isEqualTo(10);
    }

    /** Otherwise ten messages that are there would wait for an eleventh until the poll's timeout. */
    @Test
    void onlyTheFirstRequestOfAPollWaitsForMessagesAndOthersFollowIfItIsFull() {
        DeliveryMessageSource<String> source = start("orders", 30);
        var full = source.doPollForMessages(25);
        assertThat(sqs.requests())
                .extracting(ReceiveMessageRequest::waitTimeSeconds)
                .containsExactly(10);

        sqs.answer(0, messages("m", 10));
        assertThat(sqs.requests())
                .extracting(ReceiveMessageRequest::maxNumberOfMessages)
                .containsExactly(10, 10, 5);
        assertThat(sqs.requests())
                .extracting(ReceiveMessageRequest::waitTimeSeconds)
                .containsExactly(10, 0, 0);
        sqs.answer(1, messages("n", 10));
        sqs.answer(2);
        assertThat(begin(source, full)).hasSize(20);

        var partial = source.doPollForMessages(20);
        sqs.answer(3, messages("o", 9));
        assertThat(begin(source, partial)).hasSize(9);
        assertThat(sqs.requests()).hasSize(4);
    }

    @Test
    void pollWhoseOnlyRequestFailsFailsSoThatPollingBacksOff() {
        var poll = start("orders", 30).doPollForMessages(20);
        sqs.fail(0);

        assertThat(poll).isCompletedExceptionally();
    }

    /** Trap: awspring catches no error there; its polling thread ends, and the poll's permits are lost. */
    @Test
    void pollThatCannotBeSentForAnErrorFailsSoThatPollingBacksOff() {
        DeliveryMessageSource<String> source = start("orders", 30);
        sqs.refuse(new NoClassDefFoundError("io/tracing/Span"));

        assertThat(source.doPollForMessages(20)).isCompletedExceptionally();
    }

    @Test
    void attributesThatCannotBeAskedForAgainForAnErrorCostNoPollAndAreAskedForAgain() {
        DeliveryMessageSource<String> source = start("orders", 30);
        sqs.answerReads(() -> {
            throw new NoClassDefFoundError("io/tracing/Span");
        });
        clock.advance(Duration.ofMinutes(1));
        var poll = source.doPollForMessages(10);
        sqs.answer(0, messages("m", 1));
        assertThat(begin(source, poll)).hasSize(1);

        sqs.answerReads(() -> CompletableFuture.completedFuture(attributes("20")));
        clock.advance(Duration.ofMinutes(1));
        source.doPollForMessages(10);

        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(20);
    }

    /** As a converter in Kotlin throws checked exceptions, undeclared. Awspring would keep the permits of the whole poll. */
    @ParameterizedTest
    @MethodSource("unreadable")
    void messageWhoseConverterThrowsIsReturnedAndTheOthersOfItsPollAreHandled(Exception unreadable) {
        DeliveryMessageSource<String> source = start("orders", 30);
        this.unreadable = unreadable;
        var poll = source.doPollForMessages(10);
        sqs.answer(0, message("first", "", 1), message("unreadable", "", 1), message("last", "", 1));

        assertThat(begin(source, poll)).containsExactly("first", "last");
        assertThat(sqs.takeChanges()).containsOnlyKeys("unreadable");
    }

    /** As when the virtual machine has no memory left for a meter. */
    @Test
    void messagesThatCrashWhileTheyAreReturnedAreAbandonedAndCostNoOtherOfTheirPoll() {
        DeliveryMessageSource<String> source = start("orders.fifo", 30);
        var poll = source.doPollForMessages(10);
        sqs.answer(0, message("unreadable", "a", 1), message("a2", "a", 1), message("b1", "b", 1));
        failing = new InternalError("simulated");

        Collection<Message<String>> messages = source.convertMessages(poll.join());

        assertThat(messages).extracting(Message::getPayload).containsExactly("b1");
        assertThat(sqs.takeChanges()).isEmpty();
        assertThat(supervisor.inFlight()).isZero();
    }

    static List<Exception> unreadable() {
        return List.of(new IOException("checked, and undeclared"), new IllegalStateException("the converter's own"));
    }

    /** The rest of a group must not overtake it. */
    @Test
    void messageWhoseConverterCrashesIsAbandonedAndTheOthersOfItsPollAreHandled() {
        DeliveryMessageSource<String> source = start("orders.fifo", 30);
        unreadable = new StackOverflowError("simulated");
        var poll = source.doPollForMessages(10);
        sqs.answer(0, message("first", "", 1), message("unreadable", "a", 1), message("a2", "a", 1));

        assertThat(begin(source, poll)).containsExactly("first");
        assertThat(sqs.takeChanges()).containsOnlyKeys("a2");
    }

    /** SQS counts from when it sends the message. */
    @Test
    void windowCountsFromAMomentBeforeTheAnswer() {
        DeliveryMessageSource<String> source = start("orders", 30);
        var poll = source.doPollForMessages(10);
        clock.advance(Duration.ofSeconds(5));
        sqs.answer(0, messages("m", 1));
        begin(source, poll);

        assertThat(renewedAfter(Duration.ofMillis(14_799))).isEmpty();
        assertThat(renewedAfter(Duration.ofMillis(1))).containsExactly(Map.entry("m0", 30));
    }

    @Test
    void windowCountsNoEarlierThanTheRequest() {
        DeliveryMessageSource<String> source = start("orders", 30);
        var poll = source.doPollForMessages(10);
        clock.advance(Duration.ofMillis(20));
        sqs.answer(0, messages("m", 1));
        begin(source, poll);

        assertThat(renewedAfter(Duration.ofMillis(14_979))).isEmpty();
        assertThat(renewedAfter(Duration.ofMillis(1))).hasSize(1);
    }

    @Test
    void windowCountsNoLaterThanTheRequestsWait() {
        DeliveryMessageSource<String> source = start("orders", 30);
        var poll = source.doPollForMessages(10);
        clock.advance(POLL_TIMEOUT.plusSeconds(1));
        sqs.answer(0, messages("m", 1));
        begin(source, poll);

        assertThat(renewedAfter(Duration.ofMillis(13_999))).isEmpty();
        assertThat(renewedAfter(Duration.ofMillis(1))).hasSize(1);
    }

    @Test
    void windowCountsNoLaterThanTheWholeSecondsThatTheRequestWaits() {
        DeliveryMessageSource<String> source =
                start("orders", 30, options -> options.pollTimeout(Duration.ofMillis(1_900)));
        var poll = source.doPollForMessages(10);
        assertThat(sqs.latest().waitTimeSeconds()).isOne();
        clock.advance(Duration.ofMillis(2_000));
        sqs.answer(0, messages("m", 1));
        begin(source, poll);

        assertThat(renewedAfter(Duration.ofMillis(13_999))).isEmpty();
        assertThat(renewedAfter(Duration.ofMillis(1))).hasSize(1);
    }

    /** A worker that was frozen in its poll, or whose SDK repeated the request, does not know when SQS sent the messages. */
    @Test
    void answerThatIsHeldUpIsTakenForAsOldAsItsRequest() {
        DeliveryMessageSource<String> source = start("orders", 30);
        var poll = source.doPollForMessages(10);
        clock.advance(Duration.ofSeconds(25));
        sqs.answer(0, messages("m", 1));
        begin(source, poll);

        assertThat(renewedAfter(Duration.ZERO)).as("it is past half its window").hasSize(1);
    }

    @Test
    void receiptThatIsOlderThanItsWindowIsNeverUsed() {
        DeliveryMessageSource<String> source = start("orders", 30);
        var poll = source.doPollForMessages(10);
        clock.advance(Duration.ofSeconds(60));
        sqs.answer(0, messages("m", 1));
        begin(source, poll);

        assertThat(renewedAfter(Duration.ZERO)).isEmpty();
        assertThat(renewedAfter(Duration.ofSeconds(20))).isEmpty();
        source.stop();
        assertThat(sqs.takeChanges()).as("returned").isEmpty();
    }

    @Test
    void pauseBetweenTheAnswerAndTheReadingOfItsMessagesCounts() {
        DeliveryMessageSource<String> source = start("orders", 30);
        var poll = source.doPollForMessages(10);
        sqs.answer(0, messages("m", 1));
        clock.advance(Duration.ofSeconds(16));
        begin(source, poll);

        assertThat(renewedAfter(Duration.ZERO)).hasSize(1);
    }

    @Test
    void messagesOfACancelledPollAreReturnedUnlessTheirWindowIsOver() {
        DeliveryMessageSource<String> source = start("orders", 30);
        var prompt = source.doPollForMessages(10);
        var frozen = source.doPollForMessages(10);
        prompt.cancel(true);
        frozen.cancel(true);
        assertThat(prompt.join()).isEmpty();
        assertThat(frozen.join()).isEmpty();

        sqs.answer(0, messages("prompt", 1));
        clock.advance(Duration.ofSeconds(60));
        sqs.answer(1, messages("frozen", 1));

        assertThat(sqs.takeChanges()).containsExactly(Map.entry("prompt0", 0));
    }

    @Test
    void windowIsSentWithEachReceive() {
        start("orders", 30).doPollForMessages(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(30);

        start("parcels", 30, options -> options.messageVisibility(Duration.ofSeconds(7)))
                .doPollForMessages(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(7);
    }

    @Test
    void attributesAreReadAgainEachMinuteAndWhatIsReceivedThenGoesByThem(CapturedOutput output) {
        setMaxReceiveCount(5);
        DeliveryMessageSource<String> source = start("orders", 30);
        var before = source.doPollForMessages(10);
        setWindow(8);
        setMaxReceiveCount(9);
        clock.advance(Duration.ofSeconds(59));
        var tooEarly = source.doPollForMessages(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(30);
        clock.advance(Duration.ofSeconds(1));
        var after = source.doPollForMessages(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(8);

        sqs.answer(2, messages("after", 1));
        begin(source, after);
        assertThat(renewedAfter(Duration.ofMillis(3_999))).isEmpty();
        assertThat(renewedAfter(Duration.ofMillis(1))).containsExactly(Map.entry("after0", 8));
        assertThat(output)
                .contains("listener 'listener' on queue 'orders' was changed: visibility window 8 s, was 30 s; "
                        + "maxReceiveCount 9, was 5");
        assertThat(subscribed).hasSize(2);
        assertThat(subscribed.get(1).window().length()).isEqualTo(Duration.ofSeconds(8));
        assertThat(List.of(before, tooEarly)).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void pollIsSentWithoutWaitingForAttributes() {
        DeliveryMessageSource<String> source = start("orders", 30);
        CompletableFuture<GetQueueAttributesResponse> never = new CompletableFuture<>();
        sqs.answerReads(() -> never);
        clock.advance(Duration.ofMinutes(1));

        var poll = source.doPollForMessages(10);
        sqs.answer(0, messages("m", 1));

        assertThat(begin(source, poll)).hasSize(1);
    }

    @Test
    void attributesThatCannotBeReadOrUsedStayAsTheyWereAndAreAskedForAgain(CapturedOutput output) {
        DeliveryMessageSource<String> source = start("orders", 30);
        sqs.answerReads(() -> CompletableFuture.failedFuture(new IllegalStateException("throttled")));
        clock.advance(Duration.ofMinutes(1));
        source.doPollForMessages(10);
        assertThat(output).contains("could not be read again", "throttled");
        sqs.answerReads(() -> CompletableFuture.completedFuture(attributes("0")));
        clock.advance(Duration.ofMinutes(1));
        source.doPollForMessages(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(30);

        sqs.answerReads(() -> CompletableFuture.completedFuture(attributes("20")));
        clock.advance(Duration.ofMinutes(1));
        source.doPollForMessages(10);

        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(20);
    }

    private static GetQueueAttributesResponse attributes(String window) {
        return GetQueueAttributesResponse.builder()
                .attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, window))
                .build();
    }

    /** With one and the same id a later receive would get the earlier one's messages. */
    @Test
    void receivesOfAFifoQueueCanBeRepeatedWhenTheirAnswerIsLostEachByAnIdOfItsOwn() {
        DeliveryMessageSource<String> fifo = start("orders.fifo", 30);
        fifo.doPollForMessages(20);
        sqs.answer(0, messages("m", 10));
        fifo.doPollForMessages(10);
        assertThat(sqs.requests())
                .hasSize(3)
                .extracting(ReceiveMessageRequest::receiveRequestAttemptId)
                .doesNotContainNull()
                .doesNotHaveDuplicates();

        start("orders", 30).doPollForMessages(10);
        assertThat(sqs.latest().receiveRequestAttemptId()).isNull();
    }

    private List<String> begunAfterAnUnreadableHeadOnReceive(int receive) {
        DeliveryMessageSource<String> source = start("orders.fifo", 30);
        setMaxReceiveCount(10);
        var poll = source.doPollForMessages(10);
        sqs.answer(0, message("unreadable", "a", receive), message("a2", "a", receive), message("b1", "b", receive));
        return begin(source, poll);
    }

    @Test
    void messageIsNoMoreOnItsLastReceiveOnceThePolicyWasRaisedAndKeepsItsGroupBack() {
        setMaxReceiveCount(3);

        assertThat(begunAfterAnUnreadableHeadOnReceive(3)).containsExactly("b1");
        assertThat(sqs.takeChanges()).containsEntry("a2", 0);
    }

    @Test
    void messageWhoseQueueGivesItUpKeepsNothingBack() {
        setMaxReceiveCount(10);

        assertThat(begunAfterAnUnreadableHeadOnReceive(10)).containsExactly("a2", "b1");
    }

    @Test
    void orderIsKeptWhereThePolicyCannotBeRead() {
        setMaxReceiveCount(3);
        DeliveryMessageSource<String> source = start("orders.fifo", 30);
        sqs.answerReads(() -> CompletableFuture.failedFuture(new IllegalStateException("throttled")));
        var poll = source.doPollForMessages(10);
        sqs.answer(0, message("unreadable", "a", 3), message("a2", "a", 3));

        assertThat(begin(source, poll)).isEmpty();
    }

    /** As another server than AWS may answer. Awspring would keep the permits of the whole poll. */
    @ParameterizedTest
    @ValueSource(strings = {"orders", "orders.fifo"})
    void messageWhoseReceiveCountIsNoNumberCostsNoOtherOfItsPoll(String queue) {
        setMaxReceiveCount(3);
        DeliveryMessageSource<String> source = start(queue, 30);
        var poll = source.doPollForMessages(10);
        sqs.answer(0, message("first", "a", 1), message("odd", "b", "many"), message("none", "c", ""));

        assertThat(begin(source, poll)).containsExactly("first", "odd", "none");
    }

    /** Nothing renews the messages of the poll meanwhile. */
    @Test
    void policyIsAwaitedNoLongerThanAThirdOfTheWindow() {
        setMaxReceiveCount(3);
        DeliveryMessageSource<String> brief = start("orders.fifo", 3);
        brief.doPollForMessages(10);
        sqs.answer(0, message("m", "a", 3));
        assertThat(sqs.patience()).isEqualTo(Duration.ofSeconds(1));

        start("orders.fifo", 30).doPollForMessages(10);
        sqs.answer(1, message("m", "a", 3));
        assertThat(sqs.patience()).isEqualTo(Duration.ofSeconds(2));
    }

    /** With a fair queue, a group is a tenant: a sender that has a message of it fail must not use the others' receives up. */
    @Test
    void groupOfAStandardQueueKeepsNoOrder() {
        DeliveryMessageSource<String> source = start("orders", 30);
        var poll = source.doPollForMessages(10);
        sqs.answer(0, message("unreadable", "a", 1), message("a2", "a", 1));

        assertThat(begin(source, poll)).containsExactly("a2");
        assertThat(sqs.takeChanges()).doesNotContainKey("a2");
    }

    private final class Converter extends SqsMessagingMessageConverter {
        @Override
        public Message<?> toMessagingMessage(
                software.amazon.awssdk.services.sqs.model.Message message, @Nullable MessageConversionContext context) {
            if (message.body().equals("unreadable")) {
                throw DeliveryMessageSourceTests.<RuntimeException>undeclared(unreadable);
            }
            return super.toMessagingMessage(message, context);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E undeclared(Throwable thrown) throws E {
        throw (E) thrown;
    }

    private static final class NoSink implements MessageSink<String> {
        @Override
        public CompletableFuture<Void> emit(
                Collection<Message<String>> messages, MessageProcessingContext<String> context) {
            return CompletableFuture.completedFuture(null);
        }
    }
}
