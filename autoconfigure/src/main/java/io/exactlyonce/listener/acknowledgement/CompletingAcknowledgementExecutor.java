package io.exactlyonce.listener.acknowledgement;

import io.awspring.cloud.sqs.SqsAcknowledgementException;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementExecutor;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.time.Timer;
import io.exactlyonce.visibility.SqsQueueVisibility;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;

/**
 * Deletes messages, and tells which deletes the queue has confirmed; a future from awspring's batching processor does not,
 * since it completes before anything is deleted. Unlike awspring's own executor, it takes receipt handles from SQS's answer
 * rather than from headers, which senders can replace; and it numbers the entries of a batch, so that two receipts of one
 * message do not make SQS reject the whole of it.
 *
 * <p>The SDK repeats a request that fails, but not an entry that fails inside an answer. Such an entry is sent again a few
 * times, unless it is at fault itself: its message would come again, and on its last receive end in the dead-letter queue
 * although it has been handled. Its window is renewed meanwhile.
 */
public final class CompletingAcknowledgementExecutor<T> implements AcknowledgementExecutor<T> {

    /** As often as the SDK's standard mode sends a request. */
    private static final int REQUESTS = 3;

    /** Before the second request; doubled before each further one. */
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final Deliveries deliveries;
    private final SqsAsyncClient client;
    private final String queueUrl;
    private final Timer timer;

    public CompletingAcknowledgementExecutor(
            Deliveries deliveries, SqsAsyncClient client, String queueUrl, Timer timer) {
        this.deliveries = deliveries;
        this.client = client;
        this.queueUrl = queueUrl;
        this.timer = timer;
    }

    @Override
    public CompletableFuture<Void> execute(Collection<Message<T>> messages) {
        Deletion deletion = new Deletion();
        deletion.send(List.copyOf(messages));
        return deletion.confirmed;
    }

    /** A batch, until each message of it is deleted or given up. Has one request under way at a time. */
    private final class Deletion {

        private final CompletableFuture<Void> confirmed = new CompletableFuture<>();
        private final List<Message<?>> deleted = new ArrayList<>();
        private final List<Message<?>> kept = new ArrayList<>();
        private int requests;

        void send(List<Message<T>> messages) {
            guard(messages, () -> {
                requests++;
                var unused = CompletableFuture.allOf(messages.stream()
                                .map(message -> deliveries.acknowledging(delivery(message)))
                                .toArray(CompletableFuture[]::new))
                        .thenRun(() -> guard(messages, () -> request(messages)));
            });
        }

        private void request(List<Message<T>> messages) {
            try {
                var unused = client.deleteMessageBatch(
                                request -> request.queueUrl(queueUrl).entries(entries(messages)))
                        .whenComplete((response, failure) -> guard(messages, () -> {
                            if (response == null) {
                                fail(messages, failure);
                            } else {
                                answered(messages, response);
                            }
                        }));
            } catch (RuntimeException failure) {
                fail(messages, failure);
            }
        }

        private void guard(List<Message<T>> messages, Runnable step) {
            Boundary.guard("Deleting messages", step, crash -> {
                deliveries.abandon(messages.stream()
                        .map(CompletingAcknowledgementExecutor::delivery)
                        .toList());
                confirmed.completeExceptionally(crash);
            });
        }

        private void answered(List<Message<T>> messages, DeleteMessageBatchResponse response) {
            Map<String, BatchResultErrorEntry> failures = response.failed().stream()
                    .collect(
                            Collectors.toMap(BatchResultErrorEntry::id, Function.identity(), (first, second) -> first));
            List<Message<T>> again = new ArrayList<>();
            for (int index = 0; index < messages.size(); index++) {
                Message<T> message = messages.get(index);
                BatchResultErrorEntry failure = failures.get(Integer.toString(index));
                if (failure == null) {
                    deleted.add(message);
                    deliveries.acknowledged(delivery(message));
                } else if (requests < REQUESTS && !SqsQueueVisibility.isFinal(failure)) {
                    again.add(message);
                } else {
                    keep(message);
                }
            }
            if (again.isEmpty()) {
                end(null);
            } else {
                timer.after(PAUSE.multipliedBy(1L << (requests - 1)), () -> send(again));
            }
        }

        private void fail(List<Message<T>> messages, Throwable failure) {
            messages.forEach(this::keep);
            end(failure);
        }

        private void keep(Message<T> message) {
            kept.add(message);
            deliveries.acknowledgementFailed(delivery(message));
        }

        private void end(@Nullable Throwable failure) {
            if (kept.isEmpty()) {
                confirmed.complete(null);
            } else {
                confirmed.completeExceptionally(new SqsAcknowledgementException(
                        "Deleting %d of %d messages failed".formatted(kept.size(), kept.size() + deleted.size()),
                        deleted,
                        kept,
                        queueUrl,
                        failure));
            }
        }
    }

    private static List<DeleteMessageBatchRequestEntry> entries(List<? extends Message<?>> messages) {
        return IntStream.range(0, messages.size())
                .mapToObj(index -> DeleteMessageBatchRequestEntry.builder()
                        .id(Integer.toString(index))
                        .receiptHandle(delivery(messages.get(index)).receiptHandle())
                        .build())
                .toList();
    }

    private static Delivery delivery(Message<?> message) {
        return ReceivedMessage.of(message)
                .orElseThrow(() -> new IllegalStateException("Only deliveries are acknowledged"))
                .delivery();
    }
}
