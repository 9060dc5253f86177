package io.exactlyonce.listener.container;

import static io.exactlyonce.listener.FakeReceives.message;
import static io.exactlyonce.listener.FakeReceives.messages;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.support.converter.MessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessageConversionContext;
import io.awspring.cloud.sqs.support.converter.SqsMessagingMessageConverter;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryObservers;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.message.MessageConversion;
import io.exactlyonce.listener.message.PayloadType;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.Renewer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.messaging.Message;
import org.springframework.messaging.converter.MessageConversionException;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.metrics.MetricCollection;
import software.amazon.awssdk.metrics.MetricPublisher;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsServiceClientConfiguration;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesResponse;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;

/**
 * Tests which requests a receiver sends to SQS, and when the visibility timeouts of messages begin. Renewals come at
 * half a visibility timeout.
 */
@ExtendWith(OutputCaptureExtension.class)
class ReceiverTests {

    private static final Duration POLL_TIMEOUT = Duration.ofSeconds(10);
    private static final String POLICY =
            "{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:1:dlq\",\"maxReceiveCount\":%d}";

    private final FakeClock clock = new FakeClock();
    private final FakeReceives sqs = new FakeReceives();
    private final List<QueueSettings> settings = new ArrayList<>();
    private final DeliveryObservers observer = new DeliveryObservers(List.of(new DeliveryObserver() {
        @Override
        public void subscribed(Subscription subscription) {
            settings.add(subscription.settings());
        }

        @Override
        public void changed(Subscription subscription) {
            settings.add(subscription.settings());
        }
    }));
    private final Renewer renewer = ListenerRig.renewer(new ScriptedStore(), clock);
    private final Deliveries deliveries = ListenerRig.deliveries(renewer, Duration.ofSeconds(4), clock);

    private final List<MetricCollection> measured = new ArrayList<>();
    private final MetricPublisher publisher = new MetricPublisher() {
        @Override
        public void publish(MetricCollection call) {
            measured.add(call);
        }

        @Override
        public void close() {}
    };
    private Receiver.Limits limits = Receiver.limits(sqs, POLL_TIMEOUT, publisher);

    /** A polled queue, with the reader of its messages. */
    private record Source(Subscription subscription, Receiver receiver, MessageReader reader) {

        CompletableFuture<List<ReceivedMessage>> poll(int most) {
            return receiver.receive(most);
        }
    }

    private Source start(String queue, int windowSeconds) {
        return start(queue, windowSeconds, null, POLL_TIMEOUT);
    }

    private Source start(String name, int windowSeconds, @Nullable Duration configured, Duration pollTimeout) {
        setWindow(windowSeconds);
        String url = "http://localhost/1/" + name;
        var attributes = new io.exactlyonce.queue.QueueAttributes(sqs.attributes);
        VisibilityWindow window = QueueWatch.window(configured, attributes, "listener", name);
        SqsQueue queue = new SqsQueue(sqs, url, window);
        Subscription subscription =
                new Subscription("listener", name, QueueSettings.of(window, attributes), null, queue, PollGate.OPEN);
        observer.subscribed(subscription);
        QueueWatch watch = new QueueWatch(subscription, queue, attributes, configured, observer, clock);
        SqsMessageConversionContext context = new SqsMessageConversionContext();
        context.setSqsAsyncClient(sqs);
        context.setQueueAttributes(new QueueAttributes(name, url, Map.of()));
        MessageReader reader = new MessageReader(
                MessageConversion.of(new Converter(), context, new PayloadType(String.class), List.of()),
                deliveries,
                received -> {});
        SqsContainerOptions options = SqsContainerOptions.builder()
                .pollTimeout(pollTimeout)
                .maxConcurrentMessages(100)
                .maxMessagesPerPoll(20)
                .build();
        return new Source(
                subscription, new Receiver(sqs, watch, options, limits, clock, () -> true, reader::returnAll), reader);
    }

    private void setWindow(int seconds) {
        sqs.attributes.put(QueueAttributeName.VISIBILITY_TIMEOUT, String.valueOf(seconds));
    }

    private void setMaxReceiveCount(int most) {
        sqs.attributes.put(QueueAttributeName.REDRIVE_POLICY, POLICY.formatted(most));
    }

    /** Reads the messages of a poll and begins their deliveries, as a consumer does. */
    private List<String> begin(Source source, CompletableFuture<List<ReceivedMessage>> poll) {
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
        renewer.tick();
        return sqs.takeChanges();
    }

    @Test
    void visibilityTimeoutOfEachMessageCountsFromItsOwnRequestHoweverLongAnotherOfItsPollTakes() {
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
    void whatOneRequestOfAPollBroughtIsHandledAlthoughAnotherFails(CapturedOutput output) {
        Source source = start("orders", 30);
        var poll = source.poll(20);
        sqs.answer(0, messages("m", 10));
        sqs.fail(1);

        assertThat(begin(source, poll)).hasSize(10);
        assertThat(output).contains("One of several receives of listener 'listener' on queue 'orders' failed");
    }

    /**
     * The first ten messages are not renewed before their poll is done, so the poll must not wait for the second
     * request.
     */
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

    /**
     * If the wait grew with a visibility timeout of hours, the poll's own timeout would end the poll first. The poll
     * would then lose the messages of the first answer.
     */
    @ParameterizedTest
    @CsvSource({"1, 333", "30, 10000", "43200, 10000"})
    void laterAnswersOfAPollAreAwaitedForATimeThatThePollHas(long windowSeconds, long millis) {
        assertThat(Receiver.longestMore(VisibilityWindow.ofSeconds(windowSeconds)))
                .hasMillis(millis);
        assertThat(Receiver.longestMore(VisibilityWindow.ofSeconds(windowSeconds)))
                .isLessThan(Receiver.LONGEST_ANSWER);
    }

    /**
     * If a second request also waited for messages, ten received messages would wait for an eleventh until the poll's
     * timeout.
     */
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

    /** Trap: if a converter throws, Spring Cloud AWS keeps the permits of the whole poll. */
    @Test
    void messageWhoseConverterThrowsIsReturnedAndTheOthersOfItsPollAreHandled() {
        Source source = start("orders", 30);
        var poll = source.poll(10);
        sqs.answer(0, message("first", "", 1), message("unreadable", "", 1), message("last", "", 1));

        assertThat(begin(source, poll)).containsExactly("first", "last");
        assertThat(sqs.takeChanges()).containsOnlyKeys("unreadable");
    }

    /** Polls a queue whose visibility timeout is 30 s. The answer has one message and arrives after the given time. */
    private Source receiveAfter(Duration answered) {
        return receiveAfter(answered, POLL_TIMEOUT);
    }

    private Source receiveAfter(Duration answered, Duration pollTimeout) {
        Source source = start("orders", 30, null, pollTimeout);
        var poll = source.poll(10);
        clock.advance(answered);
        sqs.answer(0, messages("m", 1));
        begin(source, poll);
        return source;
    }

    /** SQS starts the visibility timeout when it sends the message. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "from a moment before the answer, 10000, 5000, 14800",
        "no earlier than the request, 10000, 20, 14980",
        "no later than the request's wait, 10000, 11000, 14000",
        "no later than the whole seconds that it waits, 1900, 2000, 14000"
    })
    void visibilityTimeoutCountsFromTheAnswerButNoLaterThanTheRequestsWait(
            String rule, long pollTimeout, long answered, long renewed) {
        receiveAfter(Duration.ofMillis(answered), Duration.ofMillis(pollTimeout));

        assertThat(renewedAfter(Duration.ofMillis(renewed - 1))).isEmpty();
        assertThat(renewedAfter(Duration.ofMillis(1))).containsExactly(Map.entry("m0", 30));
    }

    /**
     * If a worker was frozen during its poll, or the SDK repeated the request, the worker cannot detect when SQS sent
     * the messages.
     */
    @Test
    void answerThatIsHeldUpIsTakenForAsOldAsItsRequest() {
        // The answer comes 14 s after the end of the request's wait. Half the visibility timeout is 15 s.
        receiveAfter(Duration.ofSeconds(24));

        assertThat(renewedAfter(Duration.ZERO))
                .as("it is past half its visibility timeout")
                .hasSize(1);
    }

    @Test
    void receiptThatIsOlderThanItsVisibilityTimeoutIsNeverUsed() {
        Source source = receiveAfter(Duration.ofSeconds(60));

        assertThat(renewedAfter(Duration.ZERO)).isEmpty();
        assertThat(renewedAfter(Duration.ofSeconds(20))).isEmpty();
        deliveries.endStop(source.subscription());
        assertThat(sqs.takeChanges()).as("returned").isEmpty();
    }

    @Test
    void visibilityTimeoutIsSentWithEachReceive() {
        start("orders", 30).poll(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(30);

        start("parcels", 30, Duration.ofSeconds(7), POLL_TIMEOUT).poll(10);
        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(7);
    }

    @Test
    void surplusOfAnAnswerIsReturned(CapturedOutput output) {
        var poll = start("orders", 30).poll(3);

        sqs.answer(0, messages("m", 10));

        assertThat(poll.join()).hasSize(3);
        assertThat(sqs.takeChanges()).hasSize(7);
        assertThat(output)
                .contains("has 10 messages of listener 'listener' on queue 'orders', of which 3 were requested");
    }

    @Test
    void messageThatAnAnswerRepeatsIsTakenOnceAndNotReturned(CapturedOutput output) {
        var poll = start("orders", 30).poll(2);
        var good = messages("m", 2);

        sqs.answer(0, good[0], good[0], good[0].toBuilder().build(), good[1]);

        assertThat(poll.join())
                .extracting(received -> received.delivery().messageId())
                .doesNotHaveDuplicates()
                .hasSize(2);
        assertThat(sqs.takeChanges()).isEmpty();
        assertThat(output).contains("has 2 of its 4 messages of listener 'listener' on queue 'orders' again");
    }

    @Test
    void messageThatNoRequestCanNameIsIgnoredAndItsNeighboursAreNot(CapturedOutput output) {
        var poll = start("orders", 30).poll(10);
        var good = messages("m", 3);

        sqs.answer(
                0,
                good[0],
                good[1].toBuilder().receiptHandle(null).build(),
                good[1].toBuilder().receiptHandle("h".repeat(100_000)).build(),
                good[1].toBuilder().messageId("").build(),
                good[2]);

        assertThat(poll.join()).hasSize(2);
        assertThat(sqs.takeChanges()).isEmpty();
        assertThat(output)
                .contains("has no receipt handle: it is ignored")
                .contains("has a receipt handle of 100000 characters, of which 2048 are permitted")
                .contains("has no message ID");
    }

    @Test
    void messageOfAFifoQueueOvertakesNoneThatIsIgnored() {
        var poll = start("orders.fifo", 30).poll(10);
        var good = messages("m", 2);

        sqs.answer(0, good[0].toBuilder().receiptHandle("").build(), good[1]);

        assertThat(poll.join()).isEmpty();
        assertThat(sqs.takeChanges()).containsExactly(Map.entry("m1", 0));
    }

    /** If a repeated request has the same attempt id, SQS answers with the same messages. */
    @Test
    void requestsToAFifoQueueHaveAnIdEachAndOthersHaveNone() {
        start("orders.fifo", 30).poll(10);
        start("parcels.fifo", 30).poll(10);
        start("orders", 30).poll(10);

        List<String> ids = sqs.requests().stream()
                .map(ReceiveMessageRequest::receiveRequestAttemptId)
                .toList();
        assertThat(ids.subList(0, 2)).doesNotContainNull().doesNotHaveDuplicates();
        assertThat(ids.get(2)).isNull();
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
                .contains("listener 'listener' on queue 'orders' was changed: visibility timeout 8 s, was 30 s; "
                        + "maxReceiveCount 9, was 5; dead-letter queue dlq, was dlq");
        assertThat(settings)
                .containsExactly(
                        new QueueSettings(VisibilityWindow.ofSeconds(30), 5, "dlq"),
                        new QueueSettings(VisibilityWindow.ofSeconds(8), 9, "dlq"));
        assertThat(List.of(before, tooEarly)).noneMatch(CompletableFuture::isDone);
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
    void attributesThatCannotBeReadOrUsedStayAsTheyWereAndAreRequestedAgain(CapturedOutput output) {
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

    private static GetQueueAttributesResponse attributes(String timeout) {
        return GetQueueAttributesResponse.builder()
                .attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, timeout))
                .build();
    }

    private List<String> startedAfterAnUnreadableHeadOnReceive(int receive) {
        Source source = start("orders.fifo", 30);
        setMaxReceiveCount(10);
        var poll = source.poll(10);
        sqs.answer(0, message("unreadable", "a", receive), message("a2", "a", receive), message("b1", "b", receive));
        return begin(source, poll);
    }

    @Test
    void messageIsNoMoreOnItsLastReceiveOnceThePolicyWasRaisedAndKeepsItsGroupBack() {
        setMaxReceiveCount(3);

        assertThat(startedAfterAnUnreadableHeadOnReceive(3)).containsExactly("b1");
        assertThat(sqs.takeChanges()).containsEntry("a2", 0);
    }

    @Test
    void messageWhoseQueueGivesItUpKeepsNothingBack() {
        setMaxReceiveCount(10);

        assertThat(startedAfterAnUnreadableHeadOnReceive(10)).containsExactly("a2", "b1");
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

    /**
     * A group of a fair queue is a tenant. If the tenant's other messages were returned behind a failed message, they
     * would use up their receives.
     */
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
                throw new MessageConversionException("unreadable");
            }
            return super.toMessagingMessage(message, context);
        }
    }

    /** Creates a client whose configuration has the given timeouts. */
    private static SqsAsyncClient client(@Nullable Duration call, @Nullable Duration attempt) {
        SqsAsyncClient client = mock(SqsAsyncClient.class);
        ClientOverrideConfiguration.Builder limits = ClientOverrideConfiguration.builder();
        if (call != null) {
            limits.apiCallTimeout(call);
        }
        if (attempt != null) {
            limits.apiCallAttemptTimeout(attempt);
        }
        when(client.serviceClientConfiguration())
                .thenReturn(SqsServiceClientConfiguration.builder()
                        .overrideConfiguration(limits.build())
                        .build());
        return client;
    }

    /**
     * Trap: if a timeout of the client is shorter than the poll's wait, each poll of an idle queue fails. Messages that
     * SQS sends at that moment then stay invisible to all workers.
     */
    @ParameterizedTest
    @CsvSource({
        "PT5S,,PT15S,",
        ",PT2S,PT3M10S,PT12S",
        "PT5S,PT2S,PT15S,PT12S",
        "PT10S,,PT20S,",
        "PT30S,PT2S,PT30S,PT12S",
        "PT30S,,PT30S,",
        ",PT30S,PT3M10S,PT30S"
    })
    void timeoutsOfTheClientCountFromTheEndOfThePollsWait(
            @Nullable Duration call, @Nullable Duration attempt, Duration pollsCall, @Nullable Duration pollsAttempt) {
        limits = Receiver.limits(client(call, attempt), Duration.ofSeconds(10), publisher);

        var unused = start("orders", 30).poll(20);
        sqs.answer(0, messages("m", 10));

        assertThat(sqs.requests())
                .hasSize(2)
                .allSatisfy(each -> assertThat(each.overrideConfiguration()).hasValueSatisfying(request -> {
                    assertThat(request.apiCallTimeout()).contains(pollsCall);
                    assertThat(request.apiCallAttemptTimeout()).isEqualTo(Optional.ofNullable(pollsAttempt));
                }));
    }

    /**
     * Trap: an answer that arrived byte by byte exceeded no timeout. The answer kept one of the client's fifty
     * connections forever.
     */
    @ParameterizedTest
    @CsvSource({",", "PT1H,"})
    void answerWhoseEndDoesNotComeKeepsItsConnectionForThreeMinutes(
            @Nullable Duration call, @Nullable Duration attempt) {
        assertThat(Receiver.limits(client(call, attempt), Duration.ofSeconds(10), publisher)
                        .ordinary()
                        .apiCallTimeout())
                .contains(Duration.ofSeconds(190));
        assertThat(Receiver.limits(sqs, Duration.ofSeconds(10), publisher)
                        .ordinary()
                        .apiCallTimeout())
                .contains(Duration.ofSeconds(190));
    }

    /** A broken or hostile server in place of SQS may send attributes that SQS never sends. */
    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "0", "99999", "99999999999999999999", "told\nFORGED\u0085\u001b[2J"})
    void attributeThatCannotBeRightChangesNothingAndIsLogged(String visibilityTimeout, CapturedOutput output) {
        Source source = start("orders", 30);
        sqs.attributes.put(QueueAttributeName.VISIBILITY_TIMEOUT, visibilityTimeout);
        clock.advance(QueueWatch.BETWEEN_READS);
        var unused = source.poll(10);
        var next = source.poll(10);

        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(30);
        assertThat(next).isNotDone();
        assertThat(output)
                .contains("could not be read again; its visibility timeout of 30 s")
                .contains("messageVisibilitySeconds")
                .doesNotContain("\nFORGED", "\u0085", "\u001b");
    }

    @Test
    void missingAttributesChangeNothingAndAreLogged(CapturedOutput output) {
        Source source = start("orders", 30);
        sqs.attributes.clear();
        clock.advance(QueueWatch.BETWEEN_READS);
        var unused = source.poll(10);
        var next = source.poll(10);

        assertThat(sqs.latest().visibilityTimeout()).isEqualTo(30);
        assertThat(next).isNotDone();
        assertThat(output).contains("could not be read again");
    }

    /** Metrics of a request cost memory, so requests of a busy queue collect none. */
    @Test
    void onlyReceivesOfAQuietQueueAreWatched() {
        Source source = start("orders", 30);
        source.poll(10);
        sqs.answer(0, messages("m", 1));
        source.poll(10);
        sqs.answer(1);
        source.poll(10);

        assertThat(sqs.requests())
                .extracting(
                        request -> request.overrideConfiguration().orElseThrow().metricPublishers())
                .containsExactly(List.of(), List.of(), List.of(publisher));
    }
}
