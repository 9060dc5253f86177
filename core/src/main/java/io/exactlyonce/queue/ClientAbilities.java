package io.exactlyonce.queue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsServiceClientConfiguration;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.SqsRequest;

/**
 * Finds out which operations an SQS client implements. Each operation of {@link SqsAsyncClient} has a default that
 * throws {@link UnsupportedOperationException}. So an application's wrapper of a client compiles even if it lacks most
 * operations.
 */
public final class ClientAbilities {

    private static final Map<String, Class<? extends SqsRequest>> NEEDED = Map.of(
            "getQueueUrl", GetQueueUrlRequest.class,
            "getQueueAttributes", GetQueueAttributesRequest.class,
            "receiveMessage", ReceiveMessageRequest.class,
            "changeMessageVisibilityBatch", ChangeMessageVisibilityBatchRequest.class,
            "deleteMessageBatch", DeleteMessageBatchRequest.class);

    private ClientAbilities() {}

    /**
     * Returns the operations that a listener needs and that the client's class does not implement. Empty if the class
     * implements none of them, because the client is then probably a mock.
     */
    public static List<String> missing(SqsAsyncClient client) {
        List<String> missing = NEEDED.entrySet().stream()
                .filter(operation -> isDefault(client, operation.getKey(), operation.getValue()))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
        return missing.size() == NEEDED.size() ? List.of() : missing;
    }

    /**
     * Returns whether the client's class lacks an operation: it only inherits the SDK's default method, which throws.
     * Returns false in a native image if reflection does not find the method.
     */
    private static boolean isDefault(SqsAsyncClient client, String operation, Class<?> request) {
        try {
            return client.getClass().getMethod(operation, request).isDefault();
        } catch (NoSuchMethodException unknown) {
            return false;
        }
    }

    /** Returns the client's configuration; empty if the client is a wrapper that does not return it. */
    public static Optional<SqsServiceClientConfiguration> configuration(SqsAsyncClient client) {
        try {
            return Optional.ofNullable(client.serviceClientConfiguration());
        } catch (UnsupportedOperationException wrapper) {
            return Optional.empty();
        }
    }
}
