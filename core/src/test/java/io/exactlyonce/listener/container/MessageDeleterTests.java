package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.SqsAcknowledgementException;
import io.awspring.cloud.sqs.listener.SqsContainerOptions;
import io.awspring.cloud.sqs.listener.SqsContainerOptionsBuilder;
import io.awspring.cloud.sqs.listener.acknowledgement.AsyncAcknowledgementResultCallback;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.FakeTimer;
import io.exactlyonce.queue.QueueVisibility.Answers;
import io.exactlyonce.queue.QueueVisibility.Result;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.Renewer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;

class MessageDeleterTests {

    private static final Duration PATIENCE = Duration.ofMillis(300);
    private static final Duration LONG = Duration.ofSeconds(15);

    private final FakeClock clock = new FakeClock();
    private final List<String> acknowledged = new CopyOnWriteArrayList<>();

    private final DeliveryObserver observer = new DeliveryEvent.SelectiveObserver() {
        @Override
        public void acknowledged(DeliveryEvent.Acknowledged event) {
            acknowledged.add(event.delivery().receiptHandle());
        }
    };
    private final ScriptedStore store = new ScriptedStore();
    private final Renewer renewer = ListenerRig.renewer(store, clock);
    private final Deliveries deliveries =
            ListenerRig.deliveries(renewer, observer, Duration.ofSeconds(1), clock, store, Runnable::run);
    private final CompletableFuture<Answers> renewed = new CompletableFuture<>();
    private final Subscription orders =
            new Subscription("listener", "orders", VisibilityWindow.ofSeconds(30), changes -> renewed);
    private final FakeReceives sqs = new FakeReceives();
    private final FakeTimer timer = new FakeTimer();
    private final List<Collection<Message<Object>>> succeeded = new ArrayList<>();
    private final List<Throwable> failed = new ArrayList<>();
    private boolean callbackFails;
    private boolean callbackHangs;

    private final AsyncAcknowledgementResultCallback<Object> callback = new AsyncAcknowledgementResultCallback<>() {
        @Override
        public CompletableFuture<Void> onSuccess(Collection<Message<Object>> messages) {
            succeeded.add(messages);
            if (callbackFails) {
                throw new IllegalStateException("the application's own");
            }
            return callbackHangs ? new CompletableFuture<>() : CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<Void> onFailure(Collection<Message<Object>> messages, Throwable failure) {
            failed.add(failure);
            return CompletableFuture.completedFuture(null);
        }
    };

    /** Sends each delete at once. */
    private final MessageDeleter deleter = deleter(true, null, null);

    /** Buffers up to three deletes, for half a second at most. */
    private final MessageDeleter gathering = deleter(false, Duration.ofMillis(500), 3);

    private MessageDeleter deleter(boolean isFifo, @Nullable Duration interval, @Nullable Integer threshold) {
        return deleter(timer, isFifo, interval, threshold);
    }

    private MessageDeleter deleter(
            FakeTimer timer, boolean isFifo, @Nullable Duration interval, @Nullable Integer threshold) {
        SqsContainerOptionsBuilder options = SqsContainerOptions.builder();
        if (interval != null) {
            options.acknowledgementInterval(interval);
        }
        if (threshold != null) {
            options.acknowledgementThreshold(threshold);
        }
        SqsQueue queue = new SqsQueue(sqs, "http://localhost/orders", VisibilityWindow.ofSeconds(30));
        return new MessageDeleter(deliveries, queue, timer, options.build(), isFifo, callback);
    }

    private ReceivedMessage receive(String handle) {
        Delivery delivery = new Delivery(orders, orders.settings(), "id " + handle, handle, 1, clock.nanoTime());
        deliveries.begin(List.of(delivery));
        ReceivedMessage received = ListenerRig.received(delivery, null, "body");
        ListenerRig.attach(received, ListenerRig.anyMessage());
        return received;
    }

    private void delete(MessageDeleter chosen, String... handles) {
        chosen.delete(Arrays.stream(handles).map(this::receive).toList());
    }

    private static CompletableFuture<DeleteMessageBatchResponse> failed(String code, boolean senderFault, String id) {
        return CompletableFuture.completedFuture(DeleteMessageBatchResponse.builder()
                .failed(BatchResultErrorEntry.builder()
                        .id(id)
                        .code(code)
                        .senderFault(senderFault)
                        .build())
                .build());
    }

    private SqsAcknowledgementException failure() {
        assertThat(failed).hasSize(1);
        return (SqsAcknowledgementException) failed.get(0);
    }

    /** Trap: if SQS answers a renewal after the delete, the log shows an error although nothing failed. */
    @Test
    void deleteIsSentWhenTheRenewalInProgressIsAnswered() {
        ReceivedMessage early = receive("early");
        clock.advance(Duration.ofSeconds(15));
        renewer.tick();
        ReceivedMessage late = receive("late");

        deleter.delete(List.of(early, late));
        assertThat(sqs.deletes()).isEmpty();
        renewed.complete(new Answers(Map.of("early", Result.CHANGED)));

        assertThat(sqs.deletes()).containsExactly(List.of("early", "late"));
        assertThat(succeeded).containsExactly(List.of(early.message(), late.message()));
        assertThat(renewer.renewedCount()).isZero();
    }

    /**
     * Application callbacks receive message contents, so a message stays in memory until it is deleted. A sender can
     * make a message as long as the queue accepts.
     */
    @Test
    void messagesOfAMegabyteAreDeletedAtOnceAndNoneIsPolledUntilTheyAre() throws InterruptedException {
        renewed.complete(new Answers(Map.of()));
        timer.hold();
        CompletableFuture<DeleteMessageBatchResponse> answer = new CompletableFuture<>();
        sqs.answerDeletes(() -> answer);
        Delivery delivery = new Delivery(orders, orders.settings(), "id", "large", 1, clock.nanoTime());
        deliveries.begin(List.of(delivery));
        ReceivedMessage large = ListenerRig.received(delivery, null, "x".repeat(1 << 20));
        ListenerRig.attach(large, ListenerRig.anyMessage());
        delete(gathering, "small");
        assertThat(gathering.awaitRoom(PATIENCE)).isTrue();

        gathering.delete(List.of(large));

        assertThat(sqs.deletes()).containsExactly(List.of("small", "large"));
        assertThat(gathering.awaitRoom(PATIENCE)).isFalse();
        answer.complete(FakeReceives.deleted().join());
        assertThat(gathering.awaitRoom(PATIENCE)).isTrue();
    }

    /** Up to ten deletes share a request, so a duplicate and a handled message can be in the same request. */
    @Test
    void duplicateWhoseContentWasDroppedIsDeletedAndNotPassedOn() {
        renewed.complete(new Answers(Map.of()));
        ReceivedMessage waited = receive("waited");
        ReceivedMessage handled = receive("handled");
        waited.forget();

        deleter.delete(List.of(waited, handled));
        deleter.delete(List.of(waited));
        deleter.flush(PATIENCE);

        assertThat(sqs.deletes()).containsExactly(List.of("waited", "handled"), List.of("waited"));
        assertThat(succeeded).containsExactly(List.of(handled.message()));
    }

    /**
     * A refused delete is not repeated, so the message may be redelivered. The callback must therefore report a
     * failure.
     */
    @Test
    void entryThatTheQueueRefusesIsNotTakenForDeletedAndTheOthersAre() {
        ReceivedMessage refused = receive("refused");
        ReceivedMessage deleted = receive("deleted");
        sqs.answerDeletes(() -> failed("ReceiptHandleIsInvalid", true, "0"));

        deleter.delete(List.of(refused, deleted));

        assertThat(sqs.deletes()).hasSize(1);
        assertThat(acknowledged).containsExactly("deleted");
        assertThat(failure().getFailedAcknowledgementMessages()).isEqualTo(List.of(refused.message()));
        assertThat(failure().getSuccessfullyAcknowledgedMessages()).isEqualTo(List.of(deleted.message()));
        assertThat(renewer.renewedCount()).isZero();
    }

    /**
     * Trap: without a second delete, a handled message is redelivered, or goes to the dead-letter queue after its last
     * receive.
     */
    @ParameterizedTest
    @CsvSource({"InternalError, false", "RequestThrottled, true"})
    void entryThatFailsForNowIsSentAgainAndRenewedMeanwhile(String code, boolean senderFault) {
        sqs.answerDeletes(() -> failed(code, senderFault, "0"));
        timer.hold();

        delete(deleter, "failing", "deleted");

        assertThat(acknowledged).containsExactly("deleted");
        assertThat(failed).isEmpty();
        assertThat(renewer.renewedCount()).isOne();
        timer.run();
        sqs.answerDeletes(FakeReceives::deleted);
        timer.run();
        assertThat(sqs.deletes())
                .containsExactly(List.of("failing", "deleted"), List.of("failing"), List.of("failing"));
        assertThat(acknowledged).containsExactly("deleted", "failing");
        assertThat(succeeded).extracting(Collection::size).containsExactly(1, 1);
        assertThat(renewer.renewedCount()).isZero();
    }

    @Test
    void entryThatFailsEachTimeIsGivenUpAfterThreeRequests() {
        sqs.answerDeletes(() -> failed("RequestThrottled", true, "0"));

        delete(deleter, "kept");

        assertThat(sqs.deletes()).hasSize(3);
        assertThat(timer.delays()).containsExactly(Duration.ofMillis(200), Duration.ofMillis(400));
        assertThat(failure().getFailedAcknowledgementMessages()).hasSize(1);
        assertThat(renewer.renewedCount()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void requestThatFailsDeletesNothing(boolean throwsInstead) {
        IllegalStateException reset = new IllegalStateException("connection reset");
        sqs.answerDeletes(() -> {
            if (throwsInstead) {
                throw reset;
            }
            return CompletableFuture.failedFuture(reset);
        });

        delete(deleter, "kept");

        assertThat(acknowledged).isEmpty();
        assertThat(failure()).hasRootCauseInstanceOf(IllegalStateException.class);
        assertThat(renewer.renewedCount()).isZero();
    }

    @Test
    @Timeout(10)
    void callbackThatThrowsChangesNothing() {
        callbackFails = true;
        delete(deleter, "first");

        deleter.flush(LONG);

        assertThat(succeeded).hasSize(1);
        assertThat(acknowledged).containsExactly("first");
        assertThat(renewer.renewedCount()).isZero();
    }

    /**
     * Trap: on stop, Spring Cloud AWS waits for a flush that is no longer scheduled, and drops the buffered deletes.
     */
    @Test
    @Timeout(10)
    void whatIsBufferedIsSentWhenTheListenerStops() {
        timer.hold();
        delete(gathering, "first", "second");
        assertThat(sqs.deletes()).isEmpty();

        gathering.flush(PATIENCE);

        assertThat(sqs.deletes()).containsExactly(List.of("first", "second"));
        gathering.flush(PATIENCE);
        assertThat(sqs.deletes()).hasSize(1);
    }

    @Test
    void whatIsNotEnoughForARequestIsSentWhenTheIntervalIsOver() {
        timer.hold();
        delete(gathering, "first");
        delete(gathering, "second");
        assertThat(timer.delays()).containsExactly(Duration.ofMillis(500));
        assertThat(sqs.deletes()).isEmpty();

        timer.run();
        assertThat(sqs.deletes()).containsExactly(List.of("first", "second"));

        delete(gathering, "third");
        timer.run();
        assertThat(sqs.deletes()).containsExactly(List.of("first", "second"), List.of("third"));
    }

    @Test
    void deletesThatAreEnoughAreSentBeforeTheIntervalIsOver() {
        MessageDeleter counting = deleter(false, Duration.ZERO, 2);
        timer.hold();

        delete(counting, "first");
        assertThat(sqs.deletes()).isEmpty();
        delete(counting, "second");

        assertThat(sqs.deletes()).containsExactly(List.of("first", "second"));
    }

    /**
     * Trap: Spring Cloud AWS may buffer a delete until a threshold that the listener never reaches. Meanwhile the
     * message is renewed, and its FIFO group waits.
     */
    @ParameterizedTest
    @CsvSource({
        "true, , 10",
        "true, 0s, 10",
        "true, 1h, 10",
        "true, 1h, ",
        "true, 12h, 0",
        "false, 0s, 10",
        "false, 1h, ",
        "false, 1h, 0",
        "false, , 1000"
    })
    void noDeleteIsBufferedLongerThanASecondWhateverTheOptionsSay(
            boolean isFifo, @Nullable String interval, @Nullable Integer threshold) {
        MessageDeleter patient =
                deleter(isFifo, interval == null ? null : DurationFormatterUtils.detectAndParse(interval), threshold);
        timer.hold();

        delete(patient, "m0");
        assertThat(timer.delays()).containsExactly(Duration.ofSeconds(1));
        timer.run();

        assertThat(sqs.deletes()).containsExactly(List.of("m0"));
        assertThat(renewer.renewedCount()).isZero();
    }

    /**
     * The next message of a FIFO group arrives only after the earlier message is deleted. The buffer therefore sends
     * each delete after one second at most.
     */
    @Test
    void groupContinuesAlthoughItsDeletesAreNeverEnough() {
        MessageDeleter counting = deleter(true, null, 10);
        timer.hold();

        delete(counting, "m0");
        timer.run();
        delete(counting, "m1");
        delete(counting, "m2", "m3");
        timer.run();

        assertThat(sqs.deletes()).containsExactly(List.of("m0"), List.of("m1", "m2", "m3"));
        assertThat(timer.delays()).containsOnly(Duration.ofSeconds(1)).hasSize(2);
    }

    /** Both messages were handled, so SQS may delete either of them first. */
    @Test
    void twoOfAGroupInOneRequestAreDeletedEachForItself() {
        MessageDeleter counting = deleter(true, null, 2);
        sqs.answerDeletes(() -> failed("InternalError", false, "0"));
        timer.hold();

        delete(counting, "m0", "m1");
        assertThat(acknowledged).containsExactly("m1");
        sqs.answerDeletes(FakeReceives::deleted);
        timer.run();

        assertThat(acknowledged).containsExactly("m1", "m0");
        assertThat(renewer.renewedCount()).isZero();
    }

    @Test
    void crashOfTheProcessWhileADeleteIsBufferedEndsItsRenewals() {
        timer.hold();
        ReceivedMessage buffered = receive("buffered");
        gathering.delete(List.of(buffered));
        assertThat(renewer.renewedCount()).isOne();

        deliveries.abandon(List.of(buffered.delivery()));

        assertThat(renewer.renewedCount()).isZero();
        assertThat(sqs.deletes()).isEmpty();
    }

    @Test
    void timerThatRefusesDoesNotKeepLaterDeletesFromBeingSent() {
        List<Runnable> due = new ArrayList<>();
        MessageDeleter unlucky = deleter(
                new FakeTimer() {
                    @Override
                    public void after(Duration delay, Runnable task) {
                        due.add(task);
                        if (due.size() == 1) {
                            throw new OutOfMemoryError("no thread");
                        }
                    }
                },
                true,
                null,
                10);
        assertThatThrownBy(() -> delete(unlucky, "m0")).isInstanceOf(OutOfMemoryError.class);

        delete(unlucky, "m1");
        due.get(1).run();

        assertThat(sqs.deletes()).containsExactly(List.of("m0", "m1"));
    }

    @Test
    void callbackThatNeverEndsHoldsNoLaterDelete() {
        callbackHangs = true;
        MessageDeleter counting = deleter(true, null, 10);

        delete(counting, "m0");
        delete(counting, "m1");

        assertThat(sqs.deletes()).containsExactly(List.of("m0"), List.of("m1"));
        assertThat(acknowledged).containsExactly("m0", "m1");
        assertThat(renewer.renewedCount()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"true, , ", "true, 0s, ", "true, , 0", "false, 0s, 0", "false, 0s, "})
    void deletesOfFifoQueuesAndThoseOfAnApplicationThatAsksForItAreSentAtOnce(
            boolean isFifo, @Nullable String interval, @Nullable Integer threshold) {
        MessageDeleter atOnce =
                deleter(isFifo, interval == null ? null : DurationFormatterUtils.detectAndParse(interval), threshold);

        delete(atOnce, "first");

        assertThat(sqs.deletes()).containsExactly(List.of("first"));
    }

    @Test
    void standardQueuesDeletesAreGatheredAsWithSpringCloudAwsUnlessTheApplicationAsksForSomethingElse() {
        MessageDeleter usual = deleter(false, null, null);
        timer.hold();
        for (int message = 1; message < 10; message++) {
            delete(usual, "m" + message);
        }
        assertThat(sqs.deletes()).isEmpty();
        assertThat(timer.delays()).containsExactly(Duration.ofSeconds(1));

        delete(usual, "m10", "m11");

        assertThat(sqs.deletes()).extracting(List::size).containsExactly(10, 1);
    }

    /**
     * The application closes the client when the stop returns. An early return would lose deletes in flight and deletes
     * that wait for a retry.
     */
    @Test
    @Timeout(20)
    void stopWaitsUntilTheQueueHasAnswered() throws Exception {
        CompletableFuture<DeleteMessageBatchResponse> answer = new CompletableFuture<>();
        sqs.answerDeletes(() -> answer);
        delete(deleter, "first");
        CompletableFuture<Boolean> stopped = new CompletableFuture<>();
        Thread stopping = new Thread(() -> {
            deleter.flush(LONG);
            stopped.complete(answer.isDone());
        });
        stopping.start();
        await().until(() -> stopped.isDone() || stopping.getState() == Thread.State.TIMED_WAITING);
        assertThat(stopped).isNotDone();

        answer.complete(DeleteMessageBatchResponse.builder().build());

        assertThat(stopped.get()).isTrue();
    }

    @Test
    @Timeout(10)
    void unansweredDeletesAreAwaitedUntilTheTimeout() {
        sqs.answerDeletes(CompletableFuture::new);
        delete(gathering, "first");

        long start = System.nanoTime();
        gathering.flush(PATIENCE);

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(PATIENCE, PATIENCE.multipliedBy(20));
        assertThat(sqs.deletes()).hasSize(1);
    }

    @Test
    @Timeout(20)
    void whatIsToBeDeletedWhileTheListenerStopsIsSentAndAwaited() {
        sqs.answerDeletes(() -> {
            sqs.answerDeletes(FakeReceives::deleted);
            delete(gathering, "late");
            return FakeReceives.deleted();
        });
        delete(gathering, "first");

        gathering.flush(LONG);

        assertThat(sqs.deletes()).containsExactlyInAnyOrder(List.of("first"), List.of("late"));
        assertThat(acknowledged).containsExactlyInAnyOrder("first", "late");
    }
}
