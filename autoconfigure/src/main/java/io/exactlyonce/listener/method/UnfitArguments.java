package io.exactlyonce.listener.method;

import io.exactlyonce.listener.message.FailureOutline;
import io.exactlyonce.listener.message.UnreadableReason;
import java.util.Objects;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.InvalidPropertyException;
import org.springframework.core.convert.ConversionException;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.MessagingException;
import org.springframework.messaging.converter.MessageConversionException;

/**
 * Messages of which a method's arguments cannot be made. Spring's exceptions quote the value, or payload and headers,
 * with whatever line breaks their sender put there; and they end in logs.
 */
final class UnfitArguments {

    private static final Logger log = LoggerFactory.getLogger(UnfitArguments.class);

    /** Bounds the causes, since they may form a circle. */
    private static final int MOST_CAUSES = 20;

    private UnfitArguments() {}

    /** Spring fails with the property's path, and the keys in it, where a validated payload cannot be asked for one. */
    static boolean mayQuoteContent(Throwable failure) {
        return failure instanceof MessagingException
                || failure instanceof ConversionException
                || Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                        .limit(MOST_CAUSES)
                        .anyMatch(InvalidPropertyException.class::isInstance);
    }

    /**
     * Returns what to throw instead.
     *
     * @param message names the message
     * @param method that it was for
     * @param headers those of the message, if it was a single one
     * @param failure thrown before the method's proxy was called
     */
    static MessagingException withoutContent(
            Object message, ListenerMethod method, MessageHeaders headers, RuntimeException failure) {
        if (log.isDebugEnabled()) {
            log.debug("Why {} cannot be handed to {}", message, method, FailureOutline.of(failure));
        }
        String reason = method.unfitHeader(headers).orElseGet(() -> UnreadableReason.of(failure));
        return new MessageConversionException(
                "%s cannot be handed to %s: %s; send what it takes, or correct its parameters (DEBUG of %s tells more)"
                        .formatted(message, method, reason, log.getName()));
    }
}
