package io.exactlyonce.listener;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchResponse;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesResponse;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/** An SQS client that answers receives when the test permits it, and all other requests at once. */
public final class FakeReceives implements SqsAsyncClient {

    public final Map<QueueAttributeName, String> attributes = new HashMap<>();

    private final List<ReceiveMessageRequest> requests = new CopyOnWriteArrayList<>();
    private final List<CompletableFuture<ReceiveMessageResponse>> answers = new CopyOnWriteArrayList<>();
    private final List<ChangeMessageVisibilityBatchRequestEntry> changes = new CopyOnWriteArrayList<>();
    private final List<List<String>> deletes = new CopyOnWriteArrayList<>();

    private Supplier<CompletableFuture<DeleteMessageBatchResponse>> deleting = FakeReceives::deleted;
    private Supplier<CompletableFuture<GetQueueAttributesResponse>> reads =
            () -> CompletableFuture.completedFuture(GetQueueAttributesResponse.builder()
                    .attributes(Map.copyOf(attributes))
                    .build());

    /** Sets the answers to later reads of queue attributes. */
    public void answerReads(Supplier<CompletableFuture<GetQueueAttributesResponse>> reads) {
        this.reads = reads;
    }

    /** Sets the answers to later delete requests. */
    public void answerDeletes(Supplier<CompletableFuture<DeleteMessageBatchResponse>> deletes) {
        this.deleting = deletes;
    }

    public static CompletableFuture<DeleteMessageBatchResponse> deleted() {
        return CompletableFuture.completedFuture(
                DeleteMessageBatchResponse.builder().build());
    }

    public List<ReceiveMessageRequest> requests() {
        return requests;
    }

    public ReceiveMessageRequest latest() {
        return requests.get(requests.size() - 1);
    }

    /** Returns the indexes of the receive requests that have no answer yet. */
    public List<Integer> waiting() {
        return IntStream.range(0, requests.size())
                .filter(request -> !answers.get(request).isDone())
                .boxed()
                .toList();
    }

    public void answer(int request, Message... messages) {
        answers.get(request)
                .complete(ReceiveMessageResponse.builder().messages(messages).build());
    }

    public void fail(int request) {
        answers.get(request).completeExceptionally(new IllegalStateException("connection reset"));
    }

    /** Returns the visibility changes so far as a map from receipt handle to seconds, and clears the record. */
    public Map<String, Integer> takeChanges() {
        Map<String, Integer> taken = new HashMap<>();
        changes.forEach(change -> taken.put(change.receiptHandle(), change.visibilityTimeout()));
        changes.clear();
        return taken;
    }

    /** Returns the receipt handles of each delete request. */
    public List<List<String>> deletes() {
        return deletes;
    }

    public static Message[] messages(String prefix, int count) {
        Message[] messages = new Message[count];
        Arrays.setAll(messages, index -> message(prefix + index, "", 1));
        return messages;
    }

    public static Message message(String name, String group, int receives) {
        return message(name, group, String.valueOf(receives));
    }

    public static Message message(String name, String group, String receives) {
        Map<MessageSystemAttributeName, String> attributes = new HashMap<>();
        attributes.put(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, receives);
        if (!group.isEmpty()) {
            attributes.put(MessageSystemAttributeName.MESSAGE_GROUP_ID, group);
        }
        return Message.builder()
                .messageId(UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8))
                        .toString())
                .receiptHandle(name)
                .body(name)
                .attributes(attributes)
                .build();
    }

    @Override
    public CompletableFuture<ReceiveMessageResponse> receiveMessage(ReceiveMessageRequest request) {

        CompletableFuture<ReceiveMessageResponse> answer = new CompletableFuture<>();
        answers.add(answer);
        requests.add(request);
        return answer;
    }

    @Override
    public CompletableFuture<GetQueueUrlResponse> getQueueUrl(GetQueueUrlRequest request) {
        return CompletableFuture.completedFuture(GetQueueUrlResponse.builder()
                .queueUrl("http://localhost/1/" + request.queueName())
                .build());
    }

    @Override
    public CompletableFuture<GetQueueAttributesResponse> getQueueAttributes(GetQueueAttributesRequest request) {
        return reads.get();
    }

    @Override
    public CompletableFuture<ChangeMessageVisibilityBatchResponse> changeMessageVisibilityBatch(
            ChangeMessageVisibilityBatchRequest request) {
        changes.addAll(request.entries());
        return CompletableFuture.completedFuture(
                ChangeMessageVisibilityBatchResponse.builder().build());
    }

    @Override
    public CompletableFuture<DeleteMessageBatchResponse> deleteMessageBatch(DeleteMessageBatchRequest request) {
        deletes.add(request.entries().stream()
                .map(DeleteMessageBatchRequestEntry::receiptHandle)
                .toList());
        return deleting.get();
    }

    @Override
    public String serviceName() {
        return "sqs";
    }

    @Override
    public void close() {}
}
