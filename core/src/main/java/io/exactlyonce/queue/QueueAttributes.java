package io.exactlyonce.queue;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A queue's settings and message counts, as SQS returned them in one response. */
public final class QueueAttributes {

    /** Matches ARNs that are safe to log: at most 1,000 printable ASCII characters. SQS's own ARNs are shorter. */
    private static final Pattern ARN = Pattern.compile("[!-~]{1,1000}");

    /** The attributes of a queue that was not read. */
    public static final QueueAttributes UNKNOWN = new QueueAttributes(Map.of());

    private final Map<String, String> values = new TreeMap<>();
    private final @Nullable Redrive redrive;

    /**
     * A redrive policy: after too many receives, SQS moves a message to a dead-letter queue.
     *
     * @param target the dead-letter queue's ARN
     * @param maxReceiveCount number of receives after which SQS moves a message
     */
    public record Redrive(String target, int maxReceiveCount) {

        /** Returns the dead-letter queue's name, which is the last part of its ARN. */
        public String name() {
            return target.substring(target.lastIndexOf(':') + 1);
        }
    }

    public QueueAttributes(Map<QueueAttributeName, String> values) {
        values.forEach((name, value) -> {
            if (value != null) {
                this.values.put(name.toString(), value);
            }
        });
        this.redrive = redrive(text(QueueAttributeName.REDRIVE_POLICY));
    }

    /** Requests all attributes of a queue. */
    public static CompletableFuture<QueueAttributes> read(
            SqsAsyncClient client, String queueUrl, Consumer<AwsRequestOverrideConfiguration.Builder> limits) {
        return client.getQueueAttributes(request -> request.queueUrl(queueUrl)
                        .attributeNames(QueueAttributeName.ALL)
                        .overrideConfiguration(limits))
                .thenApply(response -> new QueueAttributes(response.attributes()));
    }

    /**
     * Reads a redrive policy from JSON; {@code null} if it is missing or unusable. Some servers write
     * {@code maxReceiveCount} in quotes.
     */
    private static @Nullable Redrive redrive(String policy) {
        try {
            JsonNode json = JsonMapper.shared().readTree(policy);
            String target = json.path("deadLetterTargetArn").asString("");
            int maxReceiveCount = json.path("maxReceiveCount").asInt(0);
            return ARN.matcher(target).matches() && maxReceiveCount > 0 ? new Redrive(target, maxReceiveCount) : null;
        } catch (JacksonException unreadable) {
            return null;
        }
    }

    /** Returns the queue's redrive policy; {@code null} if the queue has no dead-letter queue. */
    public @Nullable Redrive redrive() {
        return redrive;
    }

    /**
     * Returns the number of receives after which SQS moves a message to the dead-letter queue; {@code null} if there is
     * no dead-letter queue.
     */
    public @Nullable Integer maxReceiveCount() {
        return redrive == null ? null : redrive.maxReceiveCount();
    }

    /** Returns an attribute's text; empty if SQS did not return the attribute. */
    public String text(QueueAttributeName name) {
        return values.getOrDefault(name.toString(), "");
    }

    /** Returns an attribute that is a number; {@code null} if it is missing. */
    public @Nullable Long number(QueueAttributeName name) {
        String value = text(name);
        return value.matches("\\d{1,18}") ? Long.valueOf(value) : null;
    }

    /** Returns how long the queue keeps a message; {@code null} if it is not known. */
    public @Nullable Duration retention() {
        Long seconds = number(QueueAttributeName.MESSAGE_RETENTION_PERIOD);
        return seconds == null ? null : Duration.ofSeconds(seconds);
    }

    /** Returns all attributes. The map's keys are SQS's names, sorted. */
    public Map<String, String> values() {
        return new TreeMap<>(values);
    }
}
