package io.exactlyonce.visibility;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchResponse;

/**
 * Changes visibility by {@code ChangeMessageVisibilityBatch}, ten messages a request. SQS reports an entry that failed
 * inside a successful response, so every response is read entry by entry.
 */
public final class SqsQueueVisibility implements QueueVisibility {

    private static final Logger log = LoggerFactory.getLogger(SqsQueueVisibility.class);

    /** SQS's limit on entries in a batch request. */
    private static final int BATCH_SIZE = 10;

    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(500);
    private static final Duration LONGEST_TIMEOUT = Duration.ofSeconds(10);

    private final SqsAsyncClient client;
    private final String queueUrl;
    private volatile Duration timeout;

    /**
     * Makes an adapter.
     *
     * @param client the listener's own client
     * @param queueUrl the queue's URL
     * @param window of the queue's messages. A request may take a sixth of it, but half a second at least and ten at
     *     most, the SDK's own retries included, so that one that hangs leaves time for another
     */
    public SqsQueueVisibility(SqsAsyncClient client, String queueUrl, VisibilityWindow window) {
        this.client = client;
        this.queueUrl = queueUrl;
        this.timeout = timeoutFor(window);
    }

    /** The window of the queue's messages is another one from now on. */
    public void adapt(VisibilityWindow window) {
        timeout = timeoutFor(window);
    }

    private static Duration timeoutFor(VisibilityWindow window) {
        Duration share = window.length().dividedBy(6);
        Duration capped = share.compareTo(LONGEST_TIMEOUT) < 0 ? share : LONGEST_TIMEOUT;
        return capped.compareTo(SHORTEST_TIMEOUT) > 0 ? capped : SHORTEST_TIMEOUT;
    }

    /** Returns the listener's own client. */
    public SqsAsyncClient client() {
        return client;
    }

    public String queueUrl() {
        return queueUrl;
    }

    @Override
    public CompletableFuture<Map<String, Result>> change(List<Change> changes) {
        List<CompletableFuture<Map<String, Result>>> requests = IntStream.iterate(
                        0, from -> from < changes.size(), from -> from + BATCH_SIZE)
                .mapToObj(from -> changes.subList(from, Math.min(from + BATCH_SIZE, changes.size())))
                .map(this::send)
                .toList();
        return CompletableFuture.allOf(requests.toArray(CompletableFuture[]::new))
                .thenApply(ignored -> merge(requests));
    }

    private CompletableFuture<Map<String, Result>> send(List<Change> batch) {
        try {
            return client.changeMessageVisibilityBatch(request -> request.queueUrl(queueUrl)
                            .entries(entries(batch))
                            .overrideConfiguration(limits -> limits.apiCallTimeout(timeout)))
                    .handle((response, failure) -> results(batch, response, failure));
        } catch (RuntimeException failure) {
            return CompletableFuture.completedFuture(results(batch, null, failure));
        }
    }

    private static List<ChangeMessageVisibilityBatchRequestEntry> entries(List<Change> batch) {
        return IntStream.range(0, batch.size())
                .mapToObj(index -> ChangeMessageVisibilityBatchRequestEntry.builder()
                        .id(Integer.toString(index))
                        .receiptHandle(batch.get(index).receiptHandle())
                        .visibilityTimeout(batch.get(index).seconds())
                        .build())
                .toList();
    }

    private Map<String, Result> results(
            List<Change> batch, @Nullable ChangeMessageVisibilityBatchResponse response, @Nullable Throwable failure) {
        Map<String, Result> results = new HashMap<>();
        batch.forEach(change -> results.put(change.receiptHandle(), Result.CHANGED));
        if (response == null) {
            log.warn(
                    "Changing the visibility of {} messages of {} failed; renewals are tried again while their windows last",
                    batch.size(),
                    queueUrl,
                    failure);
            results.replaceAll((handle, result) -> Result.FAILED);
            return results;
        }
        for (BatchResultErrorEntry entry : response.failed()) {
            log.debug("Visibility change refused on {}: {} {}", queueUrl, entry.code(), entry.message());
            String handle = batch.get(Integer.parseInt(entry.id())).receiptHandle();
            results.put(handle, isFinal(entry) ? Result.REFUSED : Result.FAILED);
        }
        return results;
    }

    /** Returns whether an entry of a batch would fail again. Being throttled is the sender's fault, too, but may pass. */
    public static boolean isFinal(BatchResultErrorEntry entry) {
        return Boolean.TRUE.equals(entry.senderFault())
                && !(entry.code() != null && entry.code().contains("Throttl"));
    }

    private static Map<String, Result> merge(List<CompletableFuture<Map<String, Result>>> requests) {
        Map<String, Result> results = new HashMap<>();
        requests.forEach(request -> results.putAll(request.join()));
        return results;
    }
}
