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
 * An {@link ExactlyOnceListener} method, checked and ready to evaluate the keys of its messages.
 *
 * @param signalsCompletion whether its work is done when it ends
 * @param isAsync whether it returns before its work is done, and a future of it
 * @param payload the type of payloads; {@code null} if it takes none, or the type is not known
 * @param key evaluates the key of a message; {@code null} for the message attribute, else the message's id
 * @param fingerprint evaluates the content to compare with other messages of the key; {@code null} for the body
 * @param scope of its keys; {@code null} for the queue's name
 * @param timeout its longest run; {@code null} for no timeout
 * @param doubt what to do with a key that must not simply be run again
 * @param transaction in which the method runs together with its claim; {@code null} if its effects are elsewhere
 * @param onMismatch what to do with a key that is completed for other content
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
     * Returns the claim of a polled message, also one of a batch.
     *
     * @throws MissingKeyException if the message has no key
     * @throws UnusableKeyException if the message has no usable key
     */
    ClaimSpec spec(ReceivedMessage received) {
        SqsMessage polled = received.polled();
        return new ClaimSpec(
                key(received.message(), polled), compared(received.message(), polled), doubt, transaction, onMismatch);
    }

    /**
     * Returns a message's key.
     *
     * @throws UnusableKeyException if the message has no usable one
     */
    ClaimKey key(Message<?> message, SqsMessage polled) {
        return new ClaimKey(scope(polled), text(message, polled));
    }

    /**
     * Returns a message's key, and how another message would have it.
     *
     * @throws UnusableKeyException if the message has no usable one
     */
    MessageKeys.Key keyOf(Message<?> message, SqsMessage polled) {
        ClaimKey its = key(message, polled);
        boolean isItsId = key == null && polled.keyAttribute() == null;
        return new MessageKeys.Key(its.scope(), its.key(), isItsId ? ReceivedMessage.KEY_ATTRIBUTE : null);
    }

    /**
     * Returns the claim that its handler gets while it is only observed. Where the message has no usable key, it tells that when it
     * is asked for the key: no handler runs the less.
     */
    Claim observedClaim(Message<?> message) {
        SqsMessage polled = SqsMessage.fromAwspring(message).orElse(null);
        int attempt = polled == null ? 1 : polled.receiveCount();
        try {
            if (polled == null) {
                throw new UnusableKeyException(
                        "There is no key to tell %s: an interceptor, a converter or the sender replaced the message's headers"
                                .formatted(this));
            }
            ClaimKey key = key(message, polled);
            return new UnheldClaim(() -> key, attempt, UnheldClaim.OBSERVED);
        } catch (UnusableKeyException unusable) {
            return UnheldClaim.withoutKey(unusable, attempt, UnheldClaim.OBSERVED);
        }
    }

    /** Sets what becomes of a message without a key. Its id names it in place of the key. */
    void specifyWithoutKey(ReceivedMessage received, MissingKeyException missing) {
        SqsMessage polled = received.polled();
        received.delivery()
                .attempt()
                .specifyWithoutKey(
                        whenKeyMissing,
                        new ClaimKey(scope(polled), polled.messageId()),
                        UnheldClaim.withoutKey(missing, polled.receiveCount(), UnheldClaim.UNPROTECTED),
                        received.group());
    }

    private String scope(SqsMessage polled) {
        return scope == null ? polled.queue() : scope;
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

    /** Returns a description of its keys. */
    public String keyText() {
        return key != null
                ? key.text()
                : "of the message attribute %s, else the SQS message id, which covers redelivery only (a resend or a redrive has a new id)"
                        .formatted(ReceivedMessage.KEY_ATTRIBUTE);
    }

    /** Returns whether it has a key of its own, and so ignores the key that a sender has put into the message attribute. */
    public boolean ignoresKeyAttribute() {
        return key != null && !key.text().contains(ReceivedMessage.KEY_ATTRIBUTE);
    }

    /**
     * Returns the content to compare with other messages of the key: an expression's current value, or else the body.
     *
     * @throws UnusableKeyException if the expression has no usable value
     */
    Content compared(Message<?> message, SqsMessage polled) {
        if (fingerprint == null) {
            return Content.ofBody(polled.body());
        }
        return Content.ofValue(KeyRules.toFingerprint("The " + fingerprint, fingerprint.evaluate(message)));
    }

    /** Returns whether it is one of the methods of a listener's class, among which the payload decides. */
    boolean isOfClass() {
        return AnnotatedElementUtils.hasAnnotation(method, SqsHandler.class);
    }

    /** Returns whether it takes the payloads that no other method of its class takes. */
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
