package io.exactlyonce.queue;

import io.exactlyonce.boundary.AwsText;
import io.exactlyonce.boundary.OneLine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;

/**
 * A queue of SQS. Changes visibility timeouts and deletes messages, up to ten in each request. A successful response
 * may still report that single messages failed, so each one is checked.
 */
public final class SqsQueue implements QueueVisibility {

    private static final Logger log = LoggerFactory.getLogger(SqsQueue.class);

    /** SQS's limit on entries in a batch request. */
    private static final int BATCH_SIZE = 10;

    /**
     * A completed future. Each request is sent in a step that follows it. So if the client throws an exception, the
     * future of this step fails, and the caller need not catch the exception.
     */
    private static final CompletableFuture<Void> READY = CompletableFuture.completedFuture(null);

    /**
     * How long a delete may take, unless the client has a shorter timeout. Meanwhile the message's visibility timeout
     * is renewed, and the next message of its FIFO group waits.
     */
    private static final Duration LONGEST_DELETE = Duration.ofMinutes(1);

    private static final int LONGEST_REASON = 200;

    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(500);
    private static final Duration LONGEST_TIMEOUT = Duration.ofSeconds(10);

    private final SqsAsyncClient client;
    private final String queueUrl;
    private final AwsRequestOverrideConfiguration deleteLimits;
    private volatile Duration timeout;
    private volatile QueueAttributes attributes = QueueAttributes.UNKNOWN;
    private volatile Consumer<QueueAttributes> reader = read -> {};
    private volatile Polling polling = Polling.UNKNOWN;
    private volatile @Nullable Duration clientPatience;
    private volatile MessageKeys keys = message -> {
        throw new IllegalStateException("The listener's keys are not known");
    };

    /**
     * @param client the listener's own client
     * @param window the messages' visibility timeout. A request that changes it may take a sixth of this time, but at
     *     least 0.5 s and at most 10 s. So a request that hangs can be repeated in time
     */
    public SqsQueue(SqsAsyncClient client, String queueUrl, VisibilityWindow window) {
        this.client = client;
        this.queueUrl = queueUrl;
        this.timeout = timeoutFor(window);
        this.deleteLimits = AwsRequestOverrideConfiguration.builder()
                .apiCallTimeout(ClientAbilities.configuration(client)
                        .flatMap(own -> own.overrideConfiguration().apiCallTimeout())
                        .filter(own -> own.compareTo(LONGEST_DELETE) < 0)
                        .orElse(LONGEST_DELETE))
                .build();
    }

    /** Adapts the timeout of SQS requests after the queue's visibility timeout has changed. */
    public void adapt(VisibilityWindow window) {
        timeout = timeoutFor(window);
    }

    /**
     * Sets the queue's attributes, and a callback for attributes that are read later.
     *
     * @param atStart the attributes at the listener's start
     * @param reader called with attributes that are read later; if it throws, the old attributes are kept
     */
    public void watch(QueueAttributes atStart, Consumer<QueueAttributes> reader) {
        this.attributes = atStart;
        this.reader = reader;
    }

    /** Sets how the listener polls the queue. */
    public void polledBy(Polling listener) {
        polling = listener;
    }

    /** Sets how the listener reads keys. */
    public void keysBy(MessageKeys listener) {
        keys = listener;
    }

    /** Returns how the listener reads keys. */
    public MessageKeys keys() {
        return keys;
    }

    public Polling polling() {
        return polling;
    }

    /**
     * Records that a poll ended before SQS answered, because the SQS client has a short timeout of its own.
     *
     * @param met how long the client waited, approximately
     */
    public void clientPatience(Duration met) {
        clientPatience = met;
    }

    /**
     * Returns approximately the timeout of the SQS client, if the client has ended a poll too early; otherwise
     * {@code null}.
     */
    public @Nullable Duration clientPatience() {
        return clientPatience;
    }

    /** Returns the attributes that were read last. */
    public QueueAttributes attributes() {
        return attributes;
    }

    /** Reads the queue's attributes again. */
    public CompletableFuture<QueueAttributes> readAttributes(Duration longest) {
        return QueueAttributes.read(client, queueUrl, limits -> limits.apiCallTimeout(longest))
                .thenApply(read -> {
                    reader.accept(read);
                    attributes = read;
                    return read;
                });
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
    public CompletableFuture<Answers> change(List<Change> changes) {
        Map<String, Result> results = new ConcurrentHashMap<>();
        AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
        List<CompletableFuture<Void>> requests = new ArrayList<>();
        for (int from = 0; from < changes.size(); from += BATCH_SIZE) {
            List<Change> batch = changes.subList(from, Math.min(from + BATCH_SIZE, changes.size()));
            requests.add(changeSome(batch).thenAccept(results::putAll).exceptionally(failure -> {
                failed.set(failure.getCause());
                return null;
            }));
        }
        return CompletableFuture.allOf(requests.toArray(CompletableFuture[]::new))
                .thenApply(ignored -> new Answers(results, failed.get()));
    }

    private CompletableFuture<Map<String, Result>> changeSome(List<Change> batch) {
        List<String> handles = new ArrayList<>();
        List<ChangeMessageVisibilityBatchRequestEntry> entries = new ArrayList<>();
        for (Change change : batch) {
            entries.add(ChangeMessageVisibilityBatchRequestEntry.builder()
                    .id(Integer.toString(handles.size()))
                    .receiptHandle(change.receiptHandle())
                    .visibilityTimeout(change.seconds())
                    .build());
            handles.add(change.receiptHandle());
        }
        return READY.thenCompose(ready -> client.changeMessageVisibilityBatch(request -> request.queueUrl(queueUrl)
                        .entries(entries)
                        .overrideConfiguration(limits -> limits.apiCallTimeout(timeout))))
                .thenApply(response -> results(handles, response.failed()));
    }

    /**
     * Deletes messages in one request.
     *
     * @param receiptHandles at most ten
     * @return a result for each receipt handle. The future fails if the request fails, or is not answered within a
     *     minute
     */
    public CompletableFuture<Map<String, Result>> delete(List<String> receiptHandles) {
        List<DeleteMessageBatchRequestEntry> entries = new ArrayList<>();
        for (String handle : receiptHandles) {
            entries.add(DeleteMessageBatchRequestEntry.builder()
                    .id(Integer.toString(entries.size()))
                    .receiptHandle(handle)
                    .build());
        }
        return READY.thenCompose(ready -> client.deleteMessageBatch(
                        request -> request.queueUrl(queueUrl).entries(entries).overrideConfiguration(deleteLimits)))
                .thenApply(response -> results(receiptHandles, response.failed()));
    }

    private static Map<String, Result> all(List<String> handles, Result result) {
        Map<String, Result> results = new HashMap<>();
        handles.forEach(handle -> results.put(handle, result));
        return results;
    }

    /**
     * Returns a result for each receipt handle. The request identifies messages by their positions. Message IDs are
     * unsuitable, because a batch may contain a message twice, and SQS rejects a request with two equal IDs.
     */
    private Map<String, Result> results(List<String> handles, List<BatchResultErrorEntry> failed) {
        Map<String, Result> results = all(handles, Result.CHANGED);
        for (BatchResultErrorEntry entry : failed) {
            if (log.isDebugEnabled()) {
                log.debug(
                        "Rejected on {}: {}",
                        queueUrl,
                        OneLine.of(AwsText.withoutValues(entry.toString()), LONGEST_REASON));
            }
            int index = index(entry, handles.size());
            if (index >= 0) {
                results.put(handles.get(index), isFinal(entry) ? Result.REFUSED : Result.FAILED);
            }
        }
        return results;
    }

    /**
     * Returns the position of the message that an error is about; -1 if no such message was sent. Such an error is
     * ignored.
     */
    private int index(BatchResultErrorEntry entry, int sent) {
        for (int index = 0; index < sent; index++) {
            if (Integer.toString(index).equals(entry.id())) {
                return index;
            }
        }
        log.warn(
                "An answer of {} names an entry '{}' that was not sent; the entry is ignored",
                queueUrl,
                OneLine.of(String.valueOf(entry.id()), LONGEST_REASON));
        return -1;
    }

    /**
     * Returns whether SQS would reject the change or delete of this message again. An error that SQS calls the sender's
     * fault is final. Throttling is an exception: SQS calls it the sender's fault, but a later request may succeed.
     */
    private static boolean isFinal(BatchResultErrorEntry entry) {
        return Boolean.TRUE.equals(entry.senderFault())
                && !(entry.code() != null && entry.code().contains("Throttl"));
    }
}
