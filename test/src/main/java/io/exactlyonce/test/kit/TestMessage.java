package io.exactlyonce.test.kit;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * An immutable message for a test to send. Each method returns a copy with one more setting. Each delivery of a
 * {@code TestMessage} has a new message ID. {@link ExactlyOnceDriver#redeliver} delivers the same message again.
 */
public final class TestMessage {

    private static final String KEY_ATTRIBUTE = "ExactlyOnce-Key";

    private final Object content;
    private final @Nullable String queue;
    private final @Nullable String group;
    private final @Nullable CrashPoint crash;
    private final boolean claimLost;
    private final Map<String, MessageAttributeValue> attributes;

    private TestMessage(
            Object content,
            @Nullable String queue,
            @Nullable String group,
            @Nullable CrashPoint crash,
            boolean claimLost,
            Map<String, MessageAttributeValue> attributes) {
        this.content = content;
        this.queue = queue;
        this.group = group;
        this.crash = crash;
        this.claimLost = claimLost;
        this.attributes = attributes;
    }

    /**
     * Returns a message with a payload.
     *
     * @param payload the payload, which the application's {@code JsonMapper} writes as JSON
     * @throws IllegalArgumentException if the payload is a text, for which {@link #ofBody} is right, or a
     *     {@code TestMessage}
     */
    public static TestMessage ofPayload(Object payload) {
        if (payload instanceof CharSequence) {
            throw new IllegalArgumentException(
                    "A text as a payload would be in quotes: pass it as the body, to deliverBody(text) or TestMessage.ofBody(text)");
        }
        if (payload instanceof TestMessage) {
            throw new IllegalArgumentException("A TestMessage is no payload: pass it to deliver(message)");
        }
        return new TestMessage(payload, null, null, null, false, Map.of());
    }

    /**
     * Returns a message with a body.
     *
     * @param body the text that SQS delivers
     */
    public static TestMessage ofBody(String body) {
        return new TestMessage(body, null, null, null, false, Map.of());
    }

    /** Sets the queue's name. Not needed if listeners read only one queue. */
    public TestMessage to(String queue) {
        return new TestMessage(content, queue, group, crash, claimLost, attributes);
    }

    /** Sets the group of a message in a FIFO queue. */
    public TestMessage group(String group) {
        return new TestMessage(content, queue, group, crash, claimLost, attributes);
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

    /** Sets the attribute {@code ExactlyOnce-Key}, the key for listeners without a key expression. */
    public TestMessage key(String key) {
        return header(KEY_ATTRIBUTE, key);
    }

    /**
     * Crashes the first worker of the message at this point. Later deliveries and duplicates of the message have
     * workers that do not crash.
     */
    public TestMessage crashAt(CrashPoint point) {
        return new TestMessage(content, queue, group, point, claimLost, attributes);
    }

    /**
     * Lets another worker take over the key just before the handler starts, as after a long pause. The handler's thread
     * is interrupted, and {@link io.exactlyonce.Claim#ensureHeld()} throws.
     */
    public TestMessage loseClaim() {
        return new TestMessage(content, queue, group, crash, true, attributes);
    }

    private TestMessage with(String name, MessageAttributeValue value) {
        Map<String, MessageAttributeValue> more = new LinkedHashMap<>(attributes);
        more.put(name, value);
        return new TestMessage(content, queue, group, crash, claimLost, Map.copyOf(more));
    }

    /** Returns the same message without crashes and lost claims. */
    TestMessage withoutFaults() {
        return new TestMessage(content, queue, group, null, false, attributes);
    }

    /** Returns the body if the test gave one, or else the payload from which the body is made. */
    Object content() {
        return content;
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
