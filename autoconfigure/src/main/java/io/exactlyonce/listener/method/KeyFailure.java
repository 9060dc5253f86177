package io.exactlyonce.listener.method;

import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.FailureOutline;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.expression.spel.SpelEvaluationException;

/**
 * A key expression that failed on a message. What SpEL itself finds names properties and types; what a method or a getter
 * throws may quote the message, which is no business of a log's.
 */
final class KeyFailure {

    private static final Logger log = LoggerFactory.getLogger(KeyFailure.class);

    private static final int MAX_LENGTH = 300;

    private KeyFailure() {}

    /** Says why a delivery is not handled: it is returned with backoff, like one that was refused for its claim. */
    static void tell(Delivery delivery, InvalidKeyException unusable) {
        log.error(
                "{} is returned, and ends in the dead-letter queue if there is one: {}",
                delivery,
                unusable.getMessage());
    }

    static InvalidKeyException of(KeyExpression key, Throwable failure) {
        if (log.isDebugEnabled()) {
            log.debug("Why the key expression '{}' failed", key, FailureOutline.of(failure));
        }
        return new InvalidKeyException(
                "The key expression '%s' failed on this message: %s".formatted(key, reason(failure)));
    }

    private static String reason(Throwable failure) {
        Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
        if (!(cause instanceof SpelEvaluationException own)) {
            return cause.getClass().getName();
        }
        String text = own.getSimpleMessage().replaceAll("\\R|\\p{Cc}", " ");
        return text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) : text;
    }
}
