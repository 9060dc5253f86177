package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.Claim;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.ResultSerializer;
import io.exactlyonce.listener.message.PolledMessage;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.listener.message.SnsEnvelope;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.util.ClassUtils;

/** An {@link io.exactlyonce.ExactlyOnceListener} method, checked and ready to say the key of its messages. */
final class ListenerMethod {

    private final Method method;
    private final @Nullable KeyExpression key;
    private final @Nullable String scope;
    private final InDoubtPolicy doubt;
    private final @Nullable ClaimTransaction transaction;
    private final ResultSerializer results;
    private final boolean isAsync;
    private final boolean enveloped;
    private final int claimIndex;
    private final @Nullable BatchSignature batch;

    /**
     * Makes a method.
     *
     * @param isAsync whether it returns before its work is done, and a future of it
     * @param key says the key of a message; {@code null} for the message attribute, else the message's id
     * @param scope of its keys; {@code null} for the queue's name
     * @param doubt what to do with a key that must not simply be run again
     * @param transaction in which the method runs together with its claim, if it does
     * @param results reads the JSON of envelopes
     */
    ListenerMethod(
            Method method,
            boolean isAsync,
            @Nullable KeyExpression key,
            @Nullable String scope,
            InDoubtPolicy doubt,
            @Nullable ClaimTransaction transaction,
            ResultSerializer results) {
        this.method = method;
        this.key = key;
        this.scope = scope;
        this.doubt = doubt;
        this.transaction = transaction;
        this.results = results;
        this.isAsync = isAsync;
        this.enveloped = SnsEnvelope.isTakenBy(method);
        this.claimIndex = Arrays.asList(method.getParameterTypes()).indexOf(Claim.class);
        this.batch = BatchSignature.isBatch(method) ? BatchSignature.of(method) : null;
    }

    /**
     * Returns what is asked for with a message as it was polled, also with one of a batch.
     *
     * @throws InvalidKeyException if the message has no usable key
     */
    ClaimSpec spec(Message<?> message) {
        PolledMessage polled = ReceivedMessage.require(message).polled();
        return new ClaimSpec(key(message, polled), payload(polled), doubt, transaction);
    }

    /**
     * Returns a message's key.
     *
     * @throws InvalidKeyException if the message has no usable one
     */
    ClaimKey key(Message<?> message, PolledMessage polled) {
        return new ClaimKey(scope == null ? polled.queue() : scope, text(message, polled));
    }

    private String text(Message<?> message, PolledMessage polled) {
        if (key != null) {
            return KeyRules.toKey("The key expression '%s'".formatted(key), key.evaluate(message));
        }
        if (polled.keyAttribute() != null) {
            return KeyRules.toKey("The message attribute " + ReceivedMessage.KEY_ATTRIBUTE, polled.keyAttribute());
        }
        return polled.messageId();
    }

    /** Returns what its keys are, for people. */
    String keyText() {
        return key != null
                ? key.toString()
                : "of the message attribute %s, else the SQS message id, which covers redelivery only (a resend or a redrive has a new id)"
                        .formatted(ReceivedMessage.KEY_ATTRIBUTE);
    }

    /** Returns the scope of its keys; {@code null} for the queue's name. */
    @Nullable String scope() {
        return scope;
    }

    /** Returns what a message says, without the envelope around it. */
    String payload(PolledMessage polled) {
        return enveloped ? SnsEnvelope.of(polled.body(), results) : polled.body();
    }

    /** Returns in what the method runs together with its claim; {@code null} if its effects are elsewhere. */
    @Nullable ClaimTransaction transaction() {
        return transaction;
    }

    /** Returns whether the method returns before its work is done, and a future of it. */
    boolean isAsync() {
        return isAsync;
    }

    /** @throws IllegalStateException if an asynchronous method returned no future */
    @Nullable Object requireFuture(@Nullable Object returned) {
        if (isAsync() && returned == null) {
            throw new IllegalStateException(
                    "%s returned null instead of a future, which does not tell when its work is done; return "
                                    .formatted(ClassUtils.getQualifiedMethodName(method))
                            + "CompletableFuture.completedFuture(null) if there is nothing to wait for");
        }
        return returned;
    }

    /** Returns where the method takes what of a batch; {@code null} if it takes single messages. */
    @Nullable BatchSignature batch() {
        return batch;
    }

    /** Puts the claim where the method wants it; the other arguments stay as they are. */
    void pass(Claim claim, @Nullable Object[] arguments) {
        if (claimIndex >= 0) {
            arguments[claimIndex] = claim;
        }
    }

    /** Returns what the method returns when its handler is not called. */
    @Nullable Object nothing() {
        if (isAsync()) {
            Object ended = CompletableFuture.completedFuture(null);
            return ended;
        }
        Class<?> type = method.getReturnType();
        if (!type.isPrimitive() || type == void.class) {
            return null;
        }
        return Array.get(Array.newInstance(type, 1), 0);
    }

    /** Returns the types of the parameters by which awspring chooses among the handlers of a class; none for any object. */
    Stream<Class<?>> payloadTypesOfClass() {
        return AnnotatedElementUtils.hasAnnotation(method, SqsHandler.class)
                ? Arrays.stream(method.getParameters())
                        .filter(parameter -> !parameter.isAnnotationPresent(Header.class)
                                && !parameter.isAnnotationPresent(Headers.class))
                        .<Class<?>>map(Parameter::getType)
                        .filter(type -> type != Claim.class && type != Object.class)
                : Stream.empty();
    }

    Method method() {
        return method;
    }

    @Override
    public String toString() {
        return ClassUtils.getQualifiedMethodName(method);
    }
}
