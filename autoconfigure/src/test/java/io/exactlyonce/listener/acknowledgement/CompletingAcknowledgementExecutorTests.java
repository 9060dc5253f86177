package io.exactlyonce.listener.acknowledgement;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.SqsAcknowledgementException;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.visibility.FakeClock;
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
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;

class CompletingAcknowledgementExecutorTests {

    private final FakeClock clock = new FakeClock();
    private final List<String> acknowledged = new ArrayList<>();
    private final DeliveryObserver observer = new DeliveryObserver() {
        @Override
        public void acknowledged(Delivery delivery) {
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
    private final CompletingAcknowledgementExecutor<String> executor =
            new CompletingAcknowledgementExecutor<>(deliveries, sqs, "http://localhost/orders");

    private Message<String> receive(String handle) {
        Delivery delivery = new Delivery(orders, "id " + handle, handle, 1, clock.nanoTime());
        deliveries.begin(List.of(delivery));
        return new ReceivedMessage(delivery, null, "", "body").attachTo(ListenerRig.message(Map.of()), Map.of());
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
        sqs.answer = CompletableFuture.completedFuture(DeleteMessageBatchResponse.builder()
                .failed(BatchResultErrorEntry.builder()
                        .id("0")
                        .code("InternalError")
                        .build())
                .build());

        CompletableFuture<Void> confirmed = executor.execute(List.of(refused, deleted));

        assertThat(acknowledged).containsExactly("deleted");
        assertThat(failureOf(confirmed).getFailedAcknowledgementMessages()).isEqualTo(List.of(refused));
        assertThat(failureOf(confirmed).getSuccessfullyAcknowledgedMessages()).isEqualTo(List.of(deleted));
        assertThat(supervisor.inFlight()).isZero();
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

        @Override
        public CompletableFuture<DeleteMessageBatchResponse> deleteMessageBatch(DeleteMessageBatchRequest request) {
            deletes.add(request);
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
