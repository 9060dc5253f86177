package io.exactlyonce.test.kit;

import io.exactlyonce.boundary.Boundary;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchResponse;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchResultEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityResponse;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResultEntry;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesResponse;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlResponse;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/**
 * All queues that listeners request, in memory. The queues deliver only messages that the test requests, and redeliver
 * none by themselves. The receipt handles of a crashed worker are rejected.
 */
final class TestQueues implements SqsAsyncClient {

    private static final String URL = "http://queues.test.invalid/000000000000/";
    private static final Duration WINDOW = Duration.ofSeconds(30);
    private static final int MOST_EMPTY_POLLS = 50;
    private static final ReceiveMessageResponse NOTHING =
            ReceiveMessageResponse.builder().messages(List.of()).build();

    private final TestClock clock;
    private final Map<String, Deque<Poll>> polls = new HashMap<>();
    private final Map<String, Delivered> receipts = new ConcurrentHashMap<>();

    TestQueues(TestClock clock) {
        this.clock = clock;
    }

    /** @param sent when the request was sent, by the test's clock */
    private record Poll(ReceiveMessageRequest request, long sent, CompletableFuture<ReceiveMessageResponse> answer) {

        int most() {
            return request.maxNumberOfMessages();
        }

        /** Answers on another thread, as the SDK does, so that the delivering thread continues. */
        void answer(ReceiveMessageResponse response) {
            Boundary.detach("The answer to a poll", answer.completeAsync(() -> response));
        }
    }

    /**
     * Answers the next poll of a queue with messages.
     *
     * @return whether a listener polled for enough messages
     */
    synchronized boolean handOut(String queue, List<Delivered> messages, Duration longest) {
        long deadline = System.nanoTime() + longest.toNanos();
        int ended = 0;
        while (ended < MOST_EMPTY_POLLS) {
            Optional<Poll> poll = poll(queue, messages.size());
            if (poll.isPresent()) {
                receive(poll.get(), messages);
                return true;
            }
            ended += endPolls(queue);
            if (!await(deadline - System.nanoTime())) {
                return false;
            }
        }
        return false;
    }

    private void receive(Poll poll, List<Delivered> messages) {
        Integer asked = poll.request().visibilityTimeout();
        long visibleAt = clock.nanoTime() + (asked == null ? WINDOW : Duration.ofSeconds(asked)).toNanos();
        for (Delivered each : messages) {
            receipts.put(each.receiptHandle(), each);
            each.letter().hideUntil(visibleAt);
        }
        poll.answer(ReceiveMessageResponse.builder()
                .messages(messages.stream().map(Delivered::received).toList())
                .build());
    }

    /**
     * Ends polls that request too few messages. Such a poll took all free permits, and the next poll may request more.
     */
    private int endPolls(String queue) {
        int ended = 0;
        for (Poll small = polls(queue).poll();
                small != null;
                small = polls(queue).poll()) {
            small.answer(NOTHING);
            ended++;
        }
        return ended;
    }

    /**
     * Skips polls from before the clock was advanced. A real poll would have ended by then, and its messages would
     * count as old.
     */
    private Optional<Poll> poll(String queue, int messages) {
        long now = clock.nanoTime();
        Optional<Poll> found = polls(queue).stream()
                .filter(poll -> poll.most() >= messages && poll.sent() == now)
                .findFirst();
        found.ifPresent(polls(queue)::remove);
        return found;
    }

    private Deque<Poll> polls(String queue) {
        return polls.computeIfAbsent(queue, unknown -> new ArrayDeque<>());
    }

    private boolean await(long nanos) {
        if (nanos > 0) {
            Journal.wait(this, nanos);
        }
        return nanos > 0;
    }

    @Override
    public CompletableFuture<ReceiveMessageResponse> receiveMessage(ReceiveMessageRequest request) {
        Poll poll = new Poll(request, clock.nanoTime(), new CompletableFuture<>());
        if (request.waitTimeSeconds() == null || request.waitTimeSeconds() == 0) {
            poll.answer(NOTHING);
            return poll.answer();
        }
        String queue = queue(request.queueUrl());
        synchronized (this) {
            polls(queue).add(poll);
            notifyAll();
        }
        CompletableFuture.delayedExecutor(request.waitTimeSeconds(), TimeUnit.SECONDS)
                .execute(() -> end(queue, poll));
        return poll.answer();
    }

    private synchronized void end(String queue, Poll poll) {
        if (polls(queue).remove(poll)) {
            poll.answer(NOTHING);
        }
    }

    @Override
    public CompletableFuture<GetQueueUrlResponse> getQueueUrl(GetQueueUrlRequest request) {
        return CompletableFuture.completedFuture(GetQueueUrlResponse.builder()
                .queueUrl(URL + request.queueName())
                .build());
    }

    @Override
    public CompletableFuture<GetQueueAttributesResponse> getQueueAttributes(GetQueueAttributesRequest request) {
        String queue = queue(request.queueUrl());
        return CompletableFuture.completedFuture(GetQueueAttributesResponse.builder()
                .attributes(Map.of(
                        QueueAttributeName.VISIBILITY_TIMEOUT,
                        Long.toString(WINDOW.toSeconds()),
                        QueueAttributeName.QUEUE_ARN,
                        "arn:aws:sqs:test:000000000000:" + queue,
                        QueueAttributeName.MESSAGE_RETENTION_PERIOD,
                        "345600"))
                .build());
    }

    static String queue(String url) {
        return url.substring(url.lastIndexOf('/') + 1);
    }

    @Override
    public CompletableFuture<DeleteMessageBatchResponse> deleteMessageBatch(DeleteMessageBatchRequest request) {
        List<DeleteMessageBatchResultEntry> deleted = new ArrayList<>();
        List<BatchResultErrorEntry> refused = new ArrayList<>();
        for (DeleteMessageBatchRequestEntry entry : request.entries()) {
            if (apply(entry.receiptHandle(), 0, (receipt, seconds) -> receipt.delete())) {
                deleted.add(
                        DeleteMessageBatchResultEntry.builder().id(entry.id()).build());
            } else {
                refused.add(refusal(entry.id()));
            }
        }
        return CompletableFuture.completedFuture(DeleteMessageBatchResponse.builder()
                .successful(deleted)
                .failed(refused)
                .build());
    }

    @Override
    public CompletableFuture<ChangeMessageVisibilityBatchResponse> changeMessageVisibilityBatch(
            ChangeMessageVisibilityBatchRequest request) {
        List<ChangeMessageVisibilityBatchResultEntry> changed = new ArrayList<>();
        List<BatchResultErrorEntry> refused = new ArrayList<>();
        for (ChangeMessageVisibilityBatchRequestEntry entry : request.entries()) {
            if (apply(entry.receiptHandle(), entry.visibilityTimeout(), this::hide)) {
                changed.add(ChangeMessageVisibilityBatchResultEntry.builder()
                        .id(entry.id())
                        .build());
            } else {
                refused.add(refusal(entry.id()));
            }
        }
        return CompletableFuture.completedFuture(ChangeMessageVisibilityBatchResponse.builder()
                .successful(changed)
                .failed(refused)
                .build());
    }

    /** Called by Spring Cloud AWS's {@code Visibility}. */
    @Override
    public CompletableFuture<ChangeMessageVisibilityResponse> changeMessageVisibility(
            ChangeMessageVisibilityRequest request) {
        apply(request.receiptHandle(), request.visibilityTimeout(), this::hide);
        return CompletableFuture.completedFuture(
                ChangeMessageVisibilityResponse.builder().build());
    }

    private boolean hide(Delivered receipt, int seconds) {
        return receipt.hide(Duration.ofSeconds(seconds), clock.nanoTime());
    }

    private boolean apply(String receiptHandle, int seconds, BiPredicate<Delivered, Integer> change) {
        Delivered receipt = receipts.get(receiptHandle);
        return receipt != null && change.test(receipt, seconds);
    }

    private static BatchResultErrorEntry refusal(String id) {
        return BatchResultErrorEntry.builder()
                .id(id)
                .senderFault(true)
                .code("InvalidParameterValue")
                .message("The receipt handle is not valid: its worker has crashed")
                .build();
    }

    @Override
    public String serviceName() {
        return SERVICE_NAME;
    }

    @Override
    public void close() {
        // There is no connection to close.
    }
}
