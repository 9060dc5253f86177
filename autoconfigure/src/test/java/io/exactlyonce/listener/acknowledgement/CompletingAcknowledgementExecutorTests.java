package io.exactlyonce.listener.acknowledgement;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.SqsAcknowledgementException;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.UnknownOrigin;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.visibility.FakeClock;
import io.exactlyonce.visibility.FakeTimer;
import io.exactlyonce.visibility.QueueVisibility.Result;
import io.exactlyonce.visibility.ScriptedStore;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;

class CompletingAcknowledgementExecutorTests {

    private final FakeClock clock = new FakeClock();
    private final List<String> acknowledged = new ArrayList<>();
    private Error failing;
    private final DeliveryObserver observer = new DeliveryObserver() {
        @Override
        public void acknowledged(Delivery delivery) {
            if (failing != null) {
                throw failing;
            }
            acknowledged.add(delivery.receiptHandle());
        }
    };
    private final RenewalSupervisor supervisor = new RenewalSupervisor(
            new ScriptedStore(), new RenewalSchedule(0.5, 0, 3), observer, Runnable::run, clock, () -> 0);
    private final Deliveries deliveries = new Deliveries(
            supervisor, observer, new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5)), clock, () -> 0, 10);
    private final CompletableFuture<Map<String, Result>> renewed = new CompletableFuture<>();
    private final Subscription orders =
            new Subscription("listener", "orders", VisibilityWindow.ofSeconds(30), changes -> renewed);
    private final FakeSqs sqs = new FakeSqs();
    private final FakeTimer timer = new FakeTimer();
    private final CompletingAcknowledgementExecutor<String> executor =
            new CompletingAcknowledgementExecutor<>(deliveries, sqs, "http://localhost/orders", timer);

    private Message<String> receive(String handle) {
        Delivery delivery = new Delivery(orders, "id " + handle, handle, 1, clock.nanoTime());
        deliveries.begin(List.of(delivery));
        return new ReceivedMessage(delivery, null, "", "body", UnknownOrigin.INSTANCE)
                .attachTo(ListenerRig.message(Map.of()), Map.of());
    }

    /** Trap: a renewal that is answered after the delete is an error without a cause. */
    @Test
    void deleteIsSentWhenTheRenewalUnderWayIsAnswered() {
        Message<String> early = receive("early");
        clock.advance(Duration.ofSeconds(15));
        supervisor.tick();
        Message<String> late = receive("late");

        CompletableFuture<Void> deleted = executor.execute(List.of(early, late));
        assertThat(sqs.deletes).isEmpty();
        renewed.complete(Map.of("early", Result.CHANGED));

        assertThat(deleted).isCompleted();
        assertThat(sqs.deletes)
                .singleElement()
                .satisfies(request -> assertThat(request.entries())
                        .extracting(entry -> entry.receiptHandle())
                        .containsExactly("early", "late"));
        assertThat(supervisor.inFlight()).isZero();
    }

    /** Otherwise their windows would be renewed until their listener stops, which would wait for them. */
    @Test
    void deletesThatCrashWhenTheyAreAnsweredAreRenewedNoMore() {
        failing = new OutOfMemoryError("simulated");

        CompletableFuture<Void> confirmed = executor.execute(List.of(receive("first"), receive("second")));

        assertThat(confirmed).isCompletedExceptionally();
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void deleteIsSentAtOnceWhereNothingIsUnderWay() {
        assertThat(executor.execute(List.of(receive("handle")))).isCompleted();
        assertThat(sqs.deletes).hasSize(1);
        assertThat(acknowledged).containsExactly("handle");
    }

    /** To be told of as deleted, it would be renewed no more for nothing: it comes again in any case. */
    @Test
    void entryThatTheQueueRefusesIsNotTakenForDeletedAndTheOthersAre() {
        Message<String> refused = receive("refused");
        Message<String> deleted = receive("deleted");
        sqs.answer = failed("ReceiptHandleIsInvalid", true, "0");

        CompletableFuture<Void> confirmed = executor.execute(List.of(refused, deleted));

        assertThat(sqs.deletes).hasSize(1);

        assertThat(acknowledged).containsExactly("deleted");
        assertThat(failureOf(confirmed).getFailedAcknowledgementMessages()).isEqualTo(List.of(refused));
        assertThat(failureOf(confirmed).getSuccessfullyAcknowledgedMessages()).isEqualTo(List.of(deleted));
        assertThat(supervisor.inFlight()).isZero();
    }

    /** Trap: the message would come again, on its last receive to the dead-letter queue, although it has been handled. */
    @ParameterizedTest
    @CsvSource({"InternalError, false", "RequestThrottled, true"})
    void entryThatFailsForNowIsSentAgainAndRenewedMeanwhile(String code, boolean senderFault) {
        Message<String> failing = receive("failing");
        Message<String> deleted = receive("deleted");
        sqs.answer = failed(code, senderFault, "0");
        timer.hold();

        CompletableFuture<Void> confirmed = executor.execute(List.of(failing, deleted));

        assertThat(acknowledged).containsExactly("deleted");
        assertThat(confirmed).isNotDone();
        assertThat(supervisor.inFlight()).isOne();
        timer.run();
        timer.run();
        assertThat(handles()).containsExactly(List.of("failing", "deleted"), List.of("failing"), List.of("failing"));
    }

    @Test
    void entryThatFailsForNowIsDeletedByALaterRequest() {
        sqs.answer = failed("InternalError", false, "1");
        timer.hold();
        CompletableFuture<Void> confirmed = executor.execute(List.of(receive("deleted"), receive("failing")));

        sqs.answer = CompletableFuture.completedFuture(
                DeleteMessageBatchResponse.builder().build());
        timer.run();

        assertThat(confirmed).isCompleted();
        assertThat(acknowledged).containsExactly("deleted", "failing");
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void renewalUnderWayIsAwaitedBeforeAnEntryIsSentAgain() {
        sqs.answer = failed("InternalError", false, "0");
        timer.hold();
        var unused = executor.execute(List.of(receive("failing")));
        clock.advance(Duration.ofSeconds(15));
        supervisor.tick();

        timer.run();
        assertThat(sqs.deletes).hasSize(1);
        renewed.complete(Map.of("failing", Result.CHANGED));

        assertThat(sqs.deletes).hasSize(2);
    }

    @Test
    void entryThatFailsEachTimeIsGivenUpAfterThreeRequests() {
        Message<String> kept = receive("kept");
        sqs.answer = failed("RequestThrottled", true, "0");

        CompletableFuture<Void> confirmed = executor.execute(List.of(kept));

        assertThat(sqs.deletes).hasSize(3);
        assertThat(timer.delays()).containsExactly(Duration.ofMillis(200), Duration.ofMillis(400));
        assertThat(failureOf(confirmed).getFailedAcknowledgementMessages()).isEqualTo(List.of(kept));
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void requestThatFailsAfterAnEntryDidKeepsThatEntryOnly() {
        Message<String> deleted = receive("deleted");
        Message<String> kept = receive("kept");
        sqs.answer = failed("InternalError", false, "1");
        timer.hold();
        CompletableFuture<Void> confirmed = executor.execute(List.of(deleted, kept));

        sqs.answer = null;
        timer.run();

        assertThat(failureOf(confirmed).getFailedAcknowledgementMessages()).isEqualTo(List.of(kept));
        assertThat(failureOf(confirmed).getSuccessfullyAcknowledgedMessages()).isEqualTo(List.of(deleted));
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void entryIsGivenUpWhereTheSystemRefusesAThreadToSendItAgain() {
        sqs.answer = failed("InternalError", false, "0");
        var refused = new CompletingAcknowledgementExecutor<String>(
                deliveries, sqs, "http://localhost/orders", (delay, task) -> {
                    throw new OutOfMemoryError("unable to create native thread (simulated)");
                });

        assertThat(refused.execute(List.of(receive("kept")))).isCompletedExceptionally();

        assertThat(supervisor.inFlight()).isZero();
    }

    private List<List<String>> handles() {
        return sqs.deletes.stream()
                .map(request -> request.entries().stream()
                        .map(entry -> entry.receiptHandle())
                        .toList())
                .toList();
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

    @Test
    void requestThatFailsDeletesNothing() {
        Message<String> kept = receive("kept");
        sqs.answer = CompletableFuture.failedFuture(new IllegalStateException("connection reset"));

        CompletableFuture<Void> confirmed = executor.execute(List.of(kept));

        assertThat(acknowledged).isEmpty();
        assertThat(failureOf(confirmed).getFailedAcknowledgementMessages()).isEqualTo(List.of(kept));
        assertThat(failureOf(confirmed)).hasCauseInstanceOf(IllegalStateException.class);
        assertThat(supervisor.inFlight()).isZero();
    }

    @Test
    void requestThatCannotBeSentDeletesNothing() {
        Message<String> kept = receive("kept");
        sqs.answer = null;

        CompletableFuture<Void> confirmed = executor.execute(List.of(kept));

        assertThat(acknowledged).isEmpty();
        assertThat(failureOf(confirmed)).hasRootCauseMessage("the client is closed");
        assertThat(supervisor.inFlight()).isZero();
    }

    /** Otherwise its window would be renewed until its listener stops, which would wait for an answer that never comes. */
    @Test
    void requestThatCrashesDeletesNothing() {
        Message<String> kept = receive("kept");
        sqs.error = new NoClassDefFoundError("io/tracing/Span");

        CompletableFuture<Void> confirmed = executor.execute(List.of(kept));

        assertThat(confirmed).isCompletedExceptionally();
        assertThat(supervisor.inFlight()).isZero();
    }

    private static SqsAcknowledgementException failureOf(CompletableFuture<Void> confirmed) {
        assertThat(confirmed).isCompletedExceptionally();
        return (SqsAcknowledgementException)
                confirmed.handle((done, failure) -> failure).join();
    }

    private static final class FakeSqs implements SqsAsyncClient {

        private final List<DeleteMessageBatchRequest> deletes = new ArrayList<>();

        /** What the next request is answered; {@code null} if it cannot be sent. */
        private CompletableFuture<DeleteMessageBatchResponse> answer = CompletableFuture.completedFuture(
                DeleteMessageBatchResponse.builder().build());

        private Error error;

        @Override
        public CompletableFuture<DeleteMessageBatchResponse> deleteMessageBatch(DeleteMessageBatchRequest request) {
            deletes.add(request);
            if (error != null) {
                throw error;
            }
            if (answer == null) {
                throw new IllegalStateException("the client is closed");
            }
            return answer;
        }

        @Override
        public String serviceName() {
            return "sqs";
        }

        @Override
        public void close() {}
    }
}
