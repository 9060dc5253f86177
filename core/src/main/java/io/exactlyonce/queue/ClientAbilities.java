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
 * The operations that a client of SQS implements, and the configuration that it returns. {@link SqsAsyncClient} has a
 * default for each operation, which throws {@link UnsupportedOperationException}. So a wrapper around a client compiles
 * even if the wrapper lacks most operations.
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
     * Returns the names of the operations that a listener needs and the client's class does not implement. Returns an
     * empty list if the class implements none of the operations, because such a class may be a mock, whose abilities
     * reflection does not show.
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
     * Returns whether the client's class has no implementation of an operation, but only the default of the SDK, which
     * fails. Returns false in a native image, which has no methods to reflect on, so that the operation fails when it
     * is called.
     */
    private static boolean isDefault(SqsAsyncClient client, String operation, Class<?> request) {
        try {
            return client.getClass().getMethod(operation, request).isDefault();
        } catch (NoSuchMethodException unknown) {
            return false;
        }
    }

    /** Returns the client's configuration; empty for a wrapper that does not return its client's configuration. */
    public static Optional<SqsServiceClientConfiguration> configuration(SqsAsyncClient client) {
        try {
            return Optional.ofNullable(client.serviceClientConfiguration());
        } catch (UnsupportedOperationException wrapper) {
            return Optional.empty();
        }
    }
}
