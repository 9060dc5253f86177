package io.exactlyonce.listener;

import io.exactlyonce.Claim;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.KeyRules;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.messaging.Message;

/** An {@link io.exactlyonce.ExactlyOnceListener} method, checked and ready to say the key of its messages. */
final class ListenerMethod {

    private final Method method;
    private final @Nullable KeyExpression key;
    private final @Nullable String scope;
    private final int claimIndex;

    ListenerMethod(Method method, @Nullable KeyExpression key, @Nullable String scope) {
        this.method = method;
        this.key = key;
        this.scope = scope;
        this.claimIndex = Arrays.asList(method.getParameterTypes()).indexOf(Claim.class);
    }

    /** @throws InvalidKeyException if the message has no usable key */
    ClaimKey key(ReceivedMessage received, Message<?> message, @Nullable Object[] arguments) {
        String name = scope == null ? received.delivery().subscription().queue() : scope;
        return new ClaimKey(name, keyText(received, message, arguments));
    }

    private String keyText(ReceivedMessage received, Message<?> message, @Nullable Object[] arguments) {
        if (key != null) {
            return KeyRules.toKey("The key expression '%s'".formatted(key), evaluate(key, message, arguments));
        }
        if (received.keyAttribute() != null) {
            return KeyRules.toKey("The message attribute " + ReceivedMessage.KEY_ATTRIBUTE, received.keyAttribute());
        }
        return received.delivery().messageId();
    }

    private static @Nullable Object evaluate(KeyExpression key, Message<?> message, @Nullable Object[] arguments) {
        try {
            return key.evaluate(arguments, message);
        } catch (EvaluationException failure) {
            throw new InvalidKeyException(
                    "The key expression '%s' failed on this message: %s".formatted(key, failure.getSimpleMessage()),
                    failure);
        }
    }

    /** Puts the claim where the method wants it; the other arguments stay as they are. */
    void pass(Claim claim, @Nullable Object[] arguments) {
        if (claimIndex >= 0) {
            arguments[claimIndex] = claim;
        }
    }

    /** Returns what a method returns whose handler was not called. */
    @Nullable Object nothing() {
        Class<?> type = method.getReturnType();
        if (!type.isPrimitive() || type == void.class) {
            return null;
        }
        return Array.get(Array.newInstance(type, 1), 0);
    }
}
