package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyException;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.fingerprint.Content;
import io.exactlyonce.listener.expression.KeyExpression;
import io.exactlyonce.listener.message.PayloadType;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.SqsMessage;
import io.exactlyonce.queue.MessageKeys;
import java.lang.reflect.Method;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.Message;
import org.springframework.util.ClassUtils;

/**
 * An {@link ExactlyOnceListener} method that has passed all checks. Evaluates the keys of its messages.
 *
 * @param signalsCompletion false if the method's work may go on after the method has returned, or after its future has
 *     completed; only in observe mode, since startup fails for others
 * @param isAsync whether the method returns a future
 * @param payload the type of payloads; {@code null} if the method takes no payload, or the type is not known
 * @param key the key expression (for example {@code #payload.id}). If {@code null}, the key is the message attribute,
 *     or else the message's ID
 * @param fingerprint an expression for the content that all messages of a key must have in common. If {@code null},
 *     their bodies are compared
 * @param scope the keys' scope. If {@code null}, the scope is the queue's name
 * @param timeout the handler is interrupted after this time; {@code null} for no timeout
 * @param doubt what to do with a key in doubt
 * @param transaction the transaction that the method shares with its claim; {@code null} without {@code effects =
 *     DATABASE}
 * @param onMismatch what to do if a message has the same key as an earlier message, but other content
 * @param whenKeyMissing what to do with a message without a key
 */
public record ListenerMethod(
        Method method,
        ExactlyOnceListener annotation,
        boolean isObserved,
        boolean signalsCompletion,
        boolean isAsync,
        boolean isBatch,
        @Nullable PayloadType payload,
        @Nullable KeyExpression key,
        @Nullable KeyExpression fingerprint,
        @Nullable String scope,
        @Nullable Duration timeout,
        InDoubtSettings doubt,
        @Nullable ClaimTransaction transaction,
        MismatchPolicy onMismatch,
        MissingKeyPolicy whenKeyMissing) {

    /**
     * Returns what is to be claimed for a polled message.
     *
     * @throws MissingKeyException if the message has no key
     * @throws UnusableKeyException if the message has a key that cannot be used
     */
    ClaimSpec spec(ReceivedMessage received) {
        SqsMessage polled = received.polled();
        return new ClaimSpec(
                key(received.message(), polled), compared(received.message(), polled), doubt, transaction, onMismatch);
    }

    /**
     * Returns a message's key.
     *
     * @throws UnusableKeyException if the message has no usable key
     */
    ClaimKey key(Message<?> message, SqsMessage polled) {
        return new ClaimKey(scopeOn(polled.queue()), text(message, polled));
    }

    /**
     * Returns a message's key, for example to send a copy of the message to another queue. If the key is the message's
     * ID, the copy would have another ID, and so another key. In this case, the result names the message attribute in
     * which the copy must carry the key.
     *
     * @throws UnusableKeyException if the message has no usable key
     */
    MessageKeys.Key keyOf(Message<?> message, SqsMessage polled) {
        ClaimKey its = key(message, polled);
        boolean isItsId = key == null && polled.keyAttribute() == null;
        return new MessageKeys.Key(its.scope(), its.key(), isItsId ? ReceivedMessage.KEY_ATTRIBUTE : null);
    }

    /**
     * Returns the claim object for an observed handler. The handler runs even if the message has no usable key. The
     * claim object then throws an exception when the handler asks for the key.
     */
    Claim observedClaim(Message<?> message) {
        SqsMessage polled = SqsMessage.fromSpringCloudAws(message).orElse(null);
        int attempt = polled == null ? 1 : polled.receiveCount();
        try {
            if (polled == null) {
                throw new UnusableKeyException(
                        "The key of %s cannot be read: an interceptor, a converter or the sender replaced the message's headers"
                                .formatted(this));
            }
            ClaimKey key = key(message, polled);
            return new UnheldClaim(() -> key, attempt, UnheldClaim.OBSERVED);
        } catch (UnusableKeyException unusable) {
            return UnheldClaim.withoutKey(unusable, attempt, UnheldClaim.OBSERVED);
        }
    }

    /** Applies {@code whenKeyMissing} to a message without a key. The message's ID stands in for the key. */
    void specifyWithoutKey(ReceivedMessage received, MissingKeyException missing) {
        SqsMessage polled = received.polled();
        received.delivery()
                .attempt()
                .specifyWithoutKey(
                        whenKeyMissing,
                        new ClaimKey(scopeOn(polled.queue()), polled.messageId()),
                        UnheldClaim.withoutKey(missing, polled.receiveCount(), UnheldClaim.UNPROTECTED),
                        received.group());
    }

    /** Returns the scope of the keys of messages from a queue. */
    public String scopeOn(String queue) {
        return scope == null ? queue : scope;
    }

    private String text(Message<?> message, SqsMessage polled) {
        if (key != null) {
            return KeyRules.toKey("The " + key, key.evaluate(message));
        }
        String attribute = polled.keyAttribute();
        return attribute == null
                ? polled.messageId()
                : KeyRules.toKey("The message attribute " + ReceivedMessage.KEY_ATTRIBUTE, attribute);
    }

    /** Returns a description of the listener's keys. */
    public String keyText() {
        return key != null
                ? key.text()
                : "of the message attribute %s, else the SQS message id, which covers redelivery only (a resend or a redrive has a new id)"
                        .formatted(ReceivedMessage.KEY_ATTRIBUTE);
    }

    /**
     * Returns whether a sender's key in the message attribute is ignored, because the key expression does not name the
     * attribute.
     */
    public boolean ignoresKeyAttribute() {
        return key != null && !key.text().contains(ReceivedMessage.KEY_ATTRIBUTE);
    }

    /** Returns whether the key or the fingerprint may depend on headers of the message. */
    boolean readsHeaders() {
        return (key != null && key.readsHeaders()) || (fingerprint != null && fingerprint.readsHeaders());
    }

    /**
     * Returns the content that must be the same in all messages of a key: the value of the fingerprint expression, or
     * else the body.
     *
     * @throws UnusableKeyException if the expression has no usable value
     */
    Content compared(Message<?> message, SqsMessage polled) {
        if (fingerprint == null) {
            return Content.ofBody(polled.body());
        }
        return Content.ofValue(KeyRules.toFingerprint("The " + fingerprint, fingerprint.evaluate(message)));
    }

    /** Returns whether this method is one of several in a listener's class. */
    boolean isOfClass() {
        return AnnotatedElementUtils.hasAnnotation(method, SqsHandler.class);
    }

    /** Returns whether this method takes the payloads that fit no other method of its class. */
    boolean isDefault() {
        SqsHandler handler = AnnotatedElementUtils.findMergedAnnotation(method, SqsHandler.class);
        return handler != null && handler.isDefault();
    }

    InvalidListenerException refused(String problem, String remedy) {
        return new InvalidListenerException(method, problem, remedy);
    }

    @Override
    public String toString() {
        return ClassUtils.getQualifiedMethodName(method);
    }
}
