package io.exactlyonce.test.kit;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * An immutable message that a test sends. Each method returns a copy with one more setting. Each delivery has a new
 * message ID; {@link ExactlyOnceDriver#redeliver} delivers the same message again.
 */
public final class TestMessage {

    private static final String KEY_ATTRIBUTE = "ExactlyOnce-Key";

    private final Object payload;
    private final @Nullable String queue;
    private final @Nullable String group;
    private final @Nullable CrashPoint crash;
    private final boolean claimLost;
    private final Map<String, MessageAttributeValue> attributes;

    private TestMessage(
            Object payload,
            @Nullable String queue,
            @Nullable String group,
            @Nullable CrashPoint crash,
            boolean claimLost,
            Map<String, MessageAttributeValue> attributes) {
        this.payload = payload;
        this.queue = queue;
        this.group = group;
        this.crash = crash;
        this.claimLost = claimLost;
        this.attributes = attributes;
    }

    /**
     * Returns a message.
     *
     * @param payload its body if it is a text; anything else is written as JSON by the application's {@code JsonMapper}
     */
    public static TestMessage of(Object payload) {
        return new TestMessage(payload, null, null, null, false, Map.of());
    }

    /** Sets the queue's name. Not needed if listeners read only one queue. */
    public TestMessage to(String queue) {
        return new TestMessage(payload, queue, group, crash, claimLost, attributes);
    }

    /** Says of which group of a FIFO queue it is. */
    public TestMessage group(String group) {
        return new TestMessage(payload, queue, group, crash, claimLost, attributes);
    }

    /** Adds a message attribute, which handlers see as a header. */
    public TestMessage header(String name, String value) {
        return with(
                name,
                MessageAttributeValue.builder()
                        .dataType("String")
                        .stringValue(value)
                        .build());
    }

    /** Adds a message attribute, which handlers see as a header. */
    public TestMessage header(String name, Number value) {
        return with(
                name,
                MessageAttributeValue.builder()
                        .dataType("Number")
                        .stringValue(value.toString())
                        .build());
    }

    /** Adds a message attribute, which handlers see as a header. */
    public TestMessage header(String name, byte[] value) {
        return with(
                name,
                MessageAttributeValue.builder()
                        .dataType("Binary")
                        .binaryValue(SdkBytes.fromByteArray(value))
                        .build());
    }

    /** Sets the attribute {@code ExactlyOnce-Key}, the key of listeners that name none. */
    public TestMessage key(String key) {
        return header(KEY_ATTRIBUTE, key);
    }

    /**
     * Has the worker crash that the message is delivered to first. Redeliveries and duplicates meet one that does not.
     */
    public TestMessage crashing(CrashPoint point) {
        return new TestMessage(payload, queue, group, point, claimLost, attributes);
    }

    /**
     * Has another worker take the key over when the handler is about to begin, as after a long pause: its thread is
     * interrupted, and {@link io.exactlyonce.Claim#ensureHeld()} throws.
     */
    public TestMessage losingItsClaim() {
        return new TestMessage(payload, queue, group, crash, true, attributes);
    }

    private TestMessage with(String name, MessageAttributeValue value) {
        Map<String, MessageAttributeValue> more = new LinkedHashMap<>(attributes);
        more.put(name, value);
        return new TestMessage(payload, queue, group, crash, claimLost, Map.copyOf(more));
    }

    /** The same message to a worker that lives. */
    TestMessage withoutFaults() {
        return new TestMessage(payload, queue, group, null, false, attributes);
    }

    Object payload() {
        return payload;
    }

    Optional<String> queue() {
        return Optional.ofNullable(queue);
    }

    Optional<String> group() {
        return Optional.ofNullable(group);
    }

    boolean crashesAt(CrashPoint point) {
        return crash == point;
    }

    boolean losesItsClaim() {
        return claimLost;
    }

    Map<String, MessageAttributeValue> attributes() {
        return attributes;
    }
}
