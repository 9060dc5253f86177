package io.exactlyonce.listener.method;

import io.exactlyonce.listener.message.FailureOutline;
import io.exactlyonce.listener.message.UnreadableReason;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.InvalidPropertyException;
import org.springframework.core.convert.ConversionException;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessagingException;
import org.springframework.messaging.converter.MessageConversionException;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/**
 * Binds the message, or the batch, to the thread while its listener method is called. It delegates, since the copy constructor loses the
 * original's argument resolvers.
 */
final class DeliveryHandlerMethod extends InvocableHandlerMethod {

    private static final Logger log = LoggerFactory.getLogger(DeliveryHandlerMethod.class);

    private final InvocableHandlerMethod original;
    private final ListenerMethod method;

    DeliveryHandlerMethod(InvocableHandlerMethod original, ListenerMethod method) {
        super(original);
        this.original = original;
        this.method = method;
    }

    ListenerMethod method() {
        return method;
    }

    @Override
    public @Nullable Object invoke(Message<?> message, @Nullable Object... providedArguments) throws Exception {
        CurrentDeliveries current = CurrentDeliveries.of(message, method);
        current.bind();
        try {
            return withoutResult(original.invoke(message, providedArguments));
        } catch (RuntimeException failure) {
            throw CurrentDeliveries.take() == null || !mayQuoteContent(failure)
                    ? failure
                    : withoutContent(current.named(), failure);
        } finally {
            CurrentDeliveries.unbind();
        }
    }

    /** Spring fails with the property's path, and the keys in it, where a validated payload cannot be asked for one. */
    private static boolean mayQuoteContent(Throwable failure) {
        return failure instanceof MessagingException
                || failure instanceof ConversionException
                || FailureOutline.causes(failure).anyMatch(InvalidPropertyException.class::isInstance);
    }

    /**
     * Returns what to throw where the arguments cannot be made of a message: Spring's exceptions quote the value, or payload and
     * headers, with whatever line breaks their sender put there; and they end in logs.
     */
    private MessagingException withoutContent(Object message, RuntimeException failure) {
        if (log.isDebugEnabled()) {
            log.debug("Why {} cannot be handed to {}", message, method, FailureOutline.of(failure));
        }
        return new MessageConversionException(
                "%s cannot be handed to %s: %s; send what it takes, or correct its parameters (DEBUG of %s tells more)"
                        .formatted(message, method, UnreadableReason.of(failure), log.getName()));
    }

    /** Awspring takes every future for one of {@code Void}, and fails over any other result, of which it has no use. */
    private static @Nullable Object withoutResult(@Nullable Object returned) {
        return returned instanceof CompletableFuture<?> future ? future.thenApply(result -> null) : returned;
    }
}
