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
 * The operations that a client of SQS implements, and the configuration that it shows. Each operation of {@link
 * SqsAsyncClient} has a default that throws {@link UnsupportedOperationException}. So a wrapper compiles even if it
 * lacks most operations.
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
     * Returns the names of operations that a listener needs, and that the client's class does not implement. Empty for
     * a class that implements none of them, such as a mock's, because reflection does not show what a mock can do.
     */
    public static List<String> missing(SqsAsyncClient client) {
        List<String> missing = NEEDED.entrySet().stream()
                .filter(operation -> isDefault(client, operation.getKey(), operation.getValue()))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
        return missing.size() == NEEDED.size() ? List.of() : missing;
    }

    /** A native image has no methods to reflect on; there, a missing operation is found when it is called. */
    private static boolean isDefault(SqsAsyncClient client, String operation, Class<?> request) {
        try {
            return client.getClass().getMethod(operation, request).isDefault();
        } catch (NoSuchMethodException unknown) {
            return false;
        }
    }

    /** Returns the client's configuration. Empty for a wrapper that does not show it. */
    public static Optional<SqsServiceClientConfiguration> configuration(SqsAsyncClient client) {
        try {
            return Optional.ofNullable(client.serviceClientConfiguration());
        } catch (UnsupportedOperationException wrapper) {
            return Optional.empty();
        }
    }
}
