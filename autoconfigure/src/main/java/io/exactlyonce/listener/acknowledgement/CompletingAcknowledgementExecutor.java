package io.exactlyonce.listener.acknowledgement;

import io.awspring.cloud.sqs.SqsAcknowledgementException;
import io.awspring.cloud.sqs.listener.acknowledgement.AcknowledgementExecutor;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
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
 */
public final class CompletingAcknowledgementExecutor<T> implements AcknowledgementExecutor<T> {

    private final Deliveries deliveries;
    private final SqsAsyncClient client;
    private final String queueUrl;

    public CompletingAcknowledgementExecutor(Deliveries deliveries, SqsAsyncClient client, String queueUrl) {
        this.deliveries = deliveries;
        this.client = client;
        this.queueUrl = queueUrl;
    }

    @Override
    public CompletableFuture<Void> execute(Collection<Message<T>> messages) {
        List<Message<T>> batch = List.copyOf(messages);
        CompletableFuture<Void> confirmed = new CompletableFuture<>();
        var unused = CompletableFuture.allOf(batch.stream()
                        .map(message -> deliveries.acknowledging(delivery(message)))
                        .toArray(CompletableFuture[]::new))
                .thenRun(() -> delete(batch, confirmed));
        return confirmed;
    }

    private void delete(List<Message<T>> batch, CompletableFuture<Void> confirmed) {
        try {
            var unused = client.deleteMessageBatch(
                            request -> request.queueUrl(queueUrl).entries(entries(batch)))
                    .whenComplete((response, failure) -> answered(batch, response, failure, confirmed));
        } catch (RuntimeException failure) {
            answered(batch, null, failure, confirmed);
        }
    }

    private List<DeleteMessageBatchRequestEntry> entries(List<Message<T>> batch) {
        return IntStream.range(0, batch.size())
                .mapToObj(index -> DeleteMessageBatchRequestEntry.builder()
                        .id(Integer.toString(index))
                        .receiptHandle(delivery(batch.get(index)).receiptHandle())
                        .build())
                .toList();
    }

    private void answered(
            List<Message<T>> batch,
            @Nullable DeleteMessageBatchResponse response,
            @Nullable Throwable failure,
            CompletableFuture<Void> confirmed) {
        Set<String> refused = response == null
                ? Set.of()
                : response.failed().stream().map(BatchResultErrorEntry::id).collect(Collectors.toSet());
        List<Message<?>> deleted = new ArrayList<>();
        List<Message<?>> kept = new ArrayList<>();
        for (int index = 0; index < batch.size(); index++) {
            Message<T> message = batch.get(index);
            if (response == null || refused.contains(Integer.toString(index))) {
                kept.add(message);
                deliveries.acknowledgementFailed(delivery(message));
            } else {
                deleted.add(message);
                deliveries.acknowledged(delivery(message));
            }
        }
        if (kept.isEmpty()) {
            confirmed.complete(null);
        } else {
            confirmed.completeExceptionally(new SqsAcknowledgementException(
                    "Deleting %d of %d messages failed".formatted(kept.size(), batch.size()),
                    deleted,
                    kept,
                    queueUrl,
                    failure));
        }
    }

    private static Delivery delivery(Message<?> message) {
        return ReceivedMessage.of(message)
                .orElseThrow(() -> new IllegalStateException("Only deliveries are acknowledged"))
                .delivery();
    }
}
