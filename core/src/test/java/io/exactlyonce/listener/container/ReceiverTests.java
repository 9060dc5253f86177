package io.exactlyonce.listener.container;

import static io.exactlyonce.listener.FakeReceives.message;
import static io.exactlyonce.listener.FakeReceives.messages;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryObservers;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.message.MessageConversion;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.PollGate;
import io.exactlyonce.visibility.ScriptedStore;
import io.exactlyonce.visibility.SqsQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.messaging.Message;
import org.springframework.messaging.converter.MessageConversionException;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesResponse;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;

/** What a source asks SQS for, and from when on the windows of what it gets count. Renewals come at half a window. */
@ExtendWith(OutputCaptureExtension.class)
class ReceiverTests {

    private static final Duration POLL_TIMEOUT = Duration.ofSeconds(10);
    private static final String POLICY =
            "{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:1:dlq\",\"maxReceiveCount\":%d}";

    private final FakeClock clock = new FakeClock();
    private final FakeReceives sqs = new FakeReceives();
    private Throwable unreadable = new MessageConversionException("unreadable");
    private final List<Subscription> subscribed = new ArrayList<>();
    private @Nullable Error failing;
    private final DeliveryObservers observer = new DeliveryObservers(List.of(new DeliveryObserver() {
        @Override
        public void subscribed(Subscription subscription) {
            subscribed.add(subscription);
        }
    }));
    private final Renewer supervisor =
            new Renewer(new ScriptedStore(), new RenewalSchedule(0.5, 0), observer, Runnable::run, clock, this::random);
    private final Deliveries deliveries = ListenerRig.deliveries(
            supervisor, observer, new RetryBackoff(Duration.ofSeconds(4), Duration.ofMinutes(5)), clock);

    /** The renewal of a delivery that begins asks for it. */
    private double random() {
        if (failing != null) {
            throw failing;
        }
        return 0;
    }

    /** A queue that is polled, and whose messages are read. */
    private record Source(Subscription begun, Receiver receiver, MessageReader reader) {

        CompletableFuture<List<Arrival>> poll(int most) {
            return receiver.receive(most);
        }
    }

    private Source start(String queue, int windowSeconds) {
        return start(queue, windowSeconds, null, POLL_TIMEOUT);
    }

    private Source start(String name, int windowSeconds, @Nullable Duration configured, Duration pollTimeout) {
        setWindow(windowSeconds);
        String url = "http://localhost/1/" + name;
        var attributes = new io.exactlyonce.visibility.QueueAttributes(sqs.attributes);
        VisibilityWindow window = QueueWatch.window(configured, attributes, "listener", name);
        SqsQueue queue = new SqsQueue(sqs, url, window);
        Subscription begun =
                new Subscription("listener", name, window, null, queue, attributes.maxReceiveCount(), PollGate.OPEN);
        observer.subscribed(begun);
        QueueWatch watch = new QueueWatch(begun, queue, attributes, configured, observer, clock);
        SqsMessageConversionContext context = new SqsMessageConversionContext();
        context.setSqsAsyncClient(sqs);
        context.setQueueAttributes(new QueueAttributes(name, url, Map.of()));
        MessageReader reader =
                new MessageReader(new MessageConversion(new Converter(), context, String.class, Set.of()), deliveries);
        SqsContainerOptions options = SqsContainerOptions.builder()
                .pollTimeout(pollTimeout)
                .maxConcurrentMessages(100)
                .maxMessagesPerPoll(20)
                .build();
        return new Source(begun, new Receiver(sqs, watch, options, clock, () -> true, reader::returnAll), reader);
    }

    private void setWindow(int seconds) {
        sqs.attributes.put(QueueAttributeName.VISIBILITY_TIMEOUT, String.valueOf(seconds));
    }

    private void setMaxReceiveCount(int most) {
        sqs.attributes.put(QueueAttributeName.REDRIVE_POLICY, POLICY.formatted(most));
    }

    /** Does what a consumer does with the answer to a poll. */
    private List<String> begin(Source source, CompletableFuture<List<Arrival>> poll) {
        assertThat(poll).isCompleted();
        List<ReceivedMessage> messages = source.reader().read(poll.join());
        deliveries.begin(ReceivedMessage.deliveries(messages));
        return payloads(messages);
    }

    private static List<String> payloads(List<ReceivedMessage> messages) {
        return ReceivedMessage.messages(messages).stream()
                .map(message -> (String) message.getPayload())
                .toList();
    }

    private Map<String, Integer> renewedAfter(Duration time) {
        clock.advance(time);
        supervisor.tick();
        return sqs.takeChanges();
    }

    @Test
    void windowOfEachMessageCountsFromItsOwnRequestHoweverLongAnotherOfItsPollTakes() {
        Source source = start("orders", 6);
        var poll = source.poll(20);
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
        Source source = start("orders", 6);
        var poll = source.poll(20);
        sqs.answer(0, messages("early", 10));
        clock.advance(Duration.ofSeconds(10));
        sqs.answer(1);
        begin(source, poll);

        assertThat(renewedAfter(Duration.ofSeconds(4))).isEmpty();
        assertThat(output).contains("is lost: the message may be delivered again");
    }

    @Test
    void whatOneRequestOfAPollBroughtIsHandledAlthoughAnotherFails(CapturedOutput output) {
        Source source = start("orders", 30);
        var poll = source.poll(20);
        sqs.answer(0, messages("m", 10));
        sqs.fail(1);

        assertThat(begin(source, poll)).hasSize(10);
        assertThat(output).contains("One of several receives of listener 'listener' on queue 'orders' failed");
    }

    /** Nothing renews them before their poll is done. */
    @Test
    void messagesDoNotWaitForARequestThatHangsAndWhatItBringsLaterIsReturned() {
        Source source = start("orders", 1);
        var poll = source.poll(20);
        sqs.answer(0, messages("m", 10));

        await().atMost(Duration.ofSeconds(5)).until(poll::isDone);
        assertThat(begin(source, poll)).hasSize(10);
        sqs.answer(1, messages("late", 1));
        assertThat(sqs.takeChanges()).containsExactly(Map.entry("late0", 0));
    }

    /** Otherwise ten messages that are there would wait for an eleventh until the poll's timeout. */
    @Test
    void onlyTheFirstRequestOfAPollWaitsForMessagesAndOthersFollowIfItIsFull() {
        Source source = start("orders", 30);
        var full = source.poll(25);
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

        var partial = source.poll(20);
        sqs.answer(3, messages("o", 9));
        assertThat(begin(source, partial)).hasSize(9);
        assertThat(sqs.requests()).hasSize(4);
    }

    @Test
    void pollWhoseOnlyRequestFailsFailsSoThatPollingBacksOff() {
        var poll = start("orders", 30).poll(20);
        sqs.fail(0);

        assertThat(poll).isCompletedExceptionally();
    }

    @Test
    void attributesThatCannotBeAskedForAgainForAnErrorCostNoPollAndAreAskedForAgain() {
        Source source = start("orders", 30);
        sqs.answerReads(() -> {
            throw new NoClassDefFoundError("io/tracing/Span");
        });
        clock.advance(Duration.ofMinutes(1));
        var poll = source.poll(10);
        sqs.answer(0, messages("m", 1));
        assertThat(begin(source, poll)).hasSize(1);

        sqs.answerReads(() -> CompletableFuture.completedFuture(attributes("20")));
        clock.advance(Duration.ofMinutes(1));
        source.poll(10);

        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(20);
    }

    /** As a converter in Kotlin throws checked exceptions, undeclared. Awspring would keep the permits of the whole poll. */
    @ParameterizedTest
    @MethodSource("unreadable")
    void messageWhoseConverterThrowsIsReturnedAndTheOthersOfItsPollAreHandled(Exception unreadable) {
        Source source = start("orders", 30);
        this.unreadable = unreadable;
        var poll = source.poll(10);
        sqs.answer(0, message("first", "", 1), message("unreadable", "", 1), message("last", "", 1));

        assertThat(begin(source, poll)).containsExactly("first", "last");
        assertThat(sqs.takeChanges()).containsOnlyKeys("unreadable");
    }

    /** As when the virtual machine has no memory left for a meter. */
    @Test
    void messagesThatCrashWhileTheyAreReturnedAreAbandonedAndCostNoOtherOfTheirPoll() {
        Source source = start("orders.fifo", 30);
        var poll = source.poll(10);
        sqs.answer(0, message("unreadable", "a", 1), message("a2", "a", 1), message("b1", "b", 1));
        failing = new InternalError("simulated");

        assertThat(payloads(source.reader().read(poll.join()))).containsExactly("b1");
        assertThat(sqs.takeChanges()).isEmpty();
        assertThat(supervisor.inFlight()).isZero();
    }

    static List<Exception> unreadable() {
        return List.of(new IOException("checked, and undeclared"), new IllegalStateException("the converter's own"));
    }

    /** The rest of a group must not overtake it. */
    @Test
    void messageWhoseConverterCrashesIsAbandonedAndTheOthersOfItsPollAreHandled() {
        Source source = start("orders.fifo", 30);
        unreadable = new StackOverflowError("simulated");
        var poll = source.poll(10);
        sqs.answer(0, message("first", "", 1), message("unreadable", "a", 1), message("a2", "a", 1));

        assertThat(begin(source, poll)).containsExactly("first");
        assertThat(sqs.takeChanges()).containsOnlyKeys("a2");
    }

    /** Polls a window of 30 s; the answer, of one message, takes a time. */
    private Source receiveAfter(Duration answered) {
        Source source = start("orders", 30);
        var poll = source.poll(10);
        clock.advance(answered);
        sqs.answer(0, messages("m", 1));
        begin(source, poll);
        return source;
    }

    /** SQS counts from when it sends the message. */
    @Test
    void windowCountsFromAMomentBeforeTheAnswer() {
        receiveAfter(Duration.ofSeconds(5));

        assertThat(renewedAfter(Duration.ofMillis(14_799))).isEmpty();
        assertThat(renewedAfter(Duration.ofMillis(1))).containsExactly(Map.entry("m0", 30));
    }

    @Test
    void windowCountsNoEarlierThanTheRequest() {
        receiveAfter(Duration.ofMillis(20));

        assertThat(renewedAfter(Duration.ofMillis(14_979))).isEmpty();
        assertThat(renewedAfter(Duration.ofMillis(1))).hasSize(1);
    }

    @Test
    void windowCountsNoLaterThanTheRequestsWait() {
        receiveAfter(POLL_TIMEOUT.plusSeconds(1));

        assertThat(renewedAfter(Duration.ofMillis(13_999))).isEmpty();
        assertThat(renewedAfter(Duration.ofMillis(1))).hasSize(1);
    }

    @Test
    void windowCountsNoLaterThanTheWholeSecondsThatTheRequestWaits() {
        Source source = start("orders", 30, null, Duration.ofMillis(1_900));
        var poll = source.poll(10);
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
        receiveAfter(Duration.ofSeconds(25));

        assertThat(renewedAfter(Duration.ZERO)).as("it is past half its window").hasSize(1);
    }

    @Test
    void receiptThatIsOlderThanItsWindowIsNeverUsed() {
        Source source = receiveAfter(Duration.ofSeconds(60));

        assertThat(renewedAfter(Duration.ZERO)).isEmpty();
        assertThat(renewedAfter(Duration.ofSeconds(20))).isEmpty();
        deliveries.endStop(source.begun());
        assertThat(sqs.takeChanges()).as("returned").isEmpty();
    }

    @Test
    void pauseBetweenTheAnswerAndTheReadingOfItsMessagesCounts() {
        Source source = start("orders", 30);
        var poll = source.poll(10);
        sqs.answer(0, messages("m", 1));
        clock.advance(Duration.ofSeconds(16));
        begin(source, poll);

        assertThat(renewedAfter(Duration.ZERO)).hasSize(1);
    }

    @Test
    void windowIsSentWithEachReceive() {
        start("orders", 30).poll(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(30);

        start("parcels", 30, Duration.ofSeconds(7), POLL_TIMEOUT).poll(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(7);
    }

    @Test
    void attributesAreReadAgainEachMinuteAndWhatIsReceivedThenGoesByThem(CapturedOutput output) {
        setMaxReceiveCount(5);
        Source source = start("orders", 30);
        var before = source.poll(10);
        setWindow(8);
        setMaxReceiveCount(9);
        clock.advance(Duration.ofSeconds(59));
        var tooEarly = source.poll(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(30);
        clock.advance(Duration.ofSeconds(1));
        var after = source.poll(10);
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
    void attributesThatTheAuditReadsCountAsReadByTheListener() {
        Source source = start("orders", 30);
        SqsQueue queue = (SqsQueue) subscribed.get(0).visibility();
        clock.advance(Duration.ofSeconds(59));
        setWindow(8);
        queue.readAttributes(Duration.ofSeconds(2)).join();
        source.poll(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(8);

        setWindow(9);
        clock.advance(Duration.ofSeconds(59));
        source.poll(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(8);
        clock.advance(Duration.ofSeconds(1));
        source.poll(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(9);
        assertThat(queue.attributes().number(QueueAttributeName.VISIBILITY_TIMEOUT))
                .isEqualTo(9);
    }

    @Test
    void pollIsSentWithoutWaitingForAttributes() {
        Source source = start("orders", 30);
        CompletableFuture<GetQueueAttributesResponse> never = new CompletableFuture<>();
        sqs.answerReads(() -> never);
        clock.advance(Duration.ofMinutes(1));

        var poll = source.poll(10);
        sqs.answer(0, messages("m", 1));

        assertThat(begin(source, poll)).hasSize(1);
    }

    @Test
    void attributesThatCannotBeReadOrUsedStayAsTheyWereAndAreAskedForAgain(CapturedOutput output) {
        Source source = start("orders", 30);
        sqs.answerReads(() -> CompletableFuture.failedFuture(new IllegalStateException("throttled")));
        clock.advance(Duration.ofMinutes(1));
        source.poll(10);
        assertThat(output).contains("could not be read again", "throttled");
        sqs.answerReads(() -> CompletableFuture.completedFuture(attributes("0")));
        clock.advance(Duration.ofMinutes(1));
        source.poll(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(30);

        sqs.answerReads(() -> CompletableFuture.completedFuture(attributes("20")));
        clock.advance(Duration.ofMinutes(1));
        source.poll(10);

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
        Source fifo = start("orders.fifo", 30);
        fifo.poll(20);
        sqs.answer(0, messages("m", 10));
        fifo.poll(10);
        assertThat(sqs.requests())
                .hasSize(3)
                .extracting(ReceiveMessageRequest::receiveRequestAttemptId)
                .doesNotContainNull()
                .doesNotHaveDuplicates();

        start("orders", 30).poll(10);
        assertThat(sqs.latest().receiveRequestAttemptId()).isNull();
    }

    private List<String> begunAfterAnUnreadableHeadOnReceive(int receive) {
        Source source = start("orders.fifo", 30);
        setMaxReceiveCount(10);
        var poll = source.poll(10);
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
        Source source = start("orders.fifo", 30);
        sqs.answerReads(() -> CompletableFuture.failedFuture(new IllegalStateException("throttled")));
        var poll = source.poll(10);
        sqs.answer(0, message("unreadable", "a", 3), message("a2", "a", 3));

        assertThat(begin(source, poll)).isEmpty();
    }

    /** As another server than AWS may answer. Awspring would keep the permits of the whole poll. */
    @ParameterizedTest
    @ValueSource(strings = {"orders", "orders.fifo"})
    void messageWhoseReceiveCountIsNoNumberCostsNoOtherOfItsPoll(String queue) {
        setMaxReceiveCount(3);
        Source source = start(queue, 30);
        var poll = source.poll(10);
        sqs.answer(0, message("first", "a", 1), message("odd", "b", "many"), message("none", "c", ""));

        assertThat(begin(source, poll)).containsExactly("first", "odd", "none");
    }

    /** Nothing renews the messages of the poll meanwhile. */
    @Test
    void policyIsAwaitedNoLongerThanAThirdOfTheWindow() {
        setMaxReceiveCount(3);
        Source brief = start("orders.fifo", 3);
        brief.poll(10);
        sqs.answer(0, message("m", "a", 3));
        assertThat(sqs.patience()).isEqualTo(Duration.ofSeconds(1));

        start("orders.fifo", 30).poll(10);
        sqs.answer(1, message("m", "a", 3));
        assertThat(sqs.patience()).isEqualTo(Duration.ofSeconds(2));
    }

    /** With a fair queue, a group is a tenant: a sender that has a message of it fail must not use the others' receives up. */
    @Test
    void groupOfAStandardQueueKeepsNoOrder() {
        Source source = start("orders", 30);
        var poll = source.poll(10);
        sqs.answer(0, message("unreadable", "a", 1), message("a2", "a", 1));

        assertThat(begin(source, poll)).containsExactly("a2");
        assertThat(sqs.takeChanges()).doesNotContainKey("a2");
    }

    private final class Converter extends SqsMessagingMessageConverter {
        @Override
        public Message<?> toMessagingMessage(
                software.amazon.awssdk.services.sqs.model.Message message, @Nullable MessageConversionContext context) {
            if (message.body().equals("unreadable")) {
                throw ReceiverTests.<RuntimeException>undeclared(unreadable);
            }
            return super.toMessagingMessage(message, context);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E undeclared(Throwable thrown) throws E {
        throw (E) thrown;
    }
}
