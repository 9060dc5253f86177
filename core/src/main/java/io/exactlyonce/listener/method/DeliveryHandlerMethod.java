package io.exactlyonce.listener.method;

import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.RedactedException;
import io.exactlyonce.boundary.TypeAndPlace;
import io.exactlyonce.delivery.UnfinishedWork;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.InvalidPropertyException;
import org.springframework.core.convert.ConversionException;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessagingException;
import org.springframework.messaging.converter.MessageConversionException;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.messaging.support.GenericMessage;

/**
 * Binds the message, or the batch, to the thread while its listener method is called. It delegates, since the copy constructor loses the
 * original's argument resolvers.
 */
final class DeliveryHandlerMethod extends InvocableHandlerMethod {

    private static final Logger log = LoggerFactory.getLogger(DeliveryHandlerMethod.class);

    /** The method whose arguments are being made on this thread, if it is only observed. */
    private static final ThreadLocal<@Nullable ListenerMethod> OBSERVED = new ThreadLocal<>();

    private final InvocableHandlerMethod original;
    private final ListenerMethod method;
    private volatile boolean leftWork;

    DeliveryHandlerMethod(InvocableHandlerMethod original, ListenerMethod method) {
        super(original);
        this.original = original;
        this.method = method;
    }

    ListenerMethod method() {
        return method;
    }

    /** Returns whether the work of an observed handler is done when it ends, as far as its type and its results show. */
    boolean signalsCompletion() {
        return method.signalsCompletion() && !leftWork;
    }

    /** Returns the method whose arguments are being made on this thread; {@code null} if that is enforced. */
    static @Nullable ListenerMethod observed() {
        return OBSERVED.get();
    }

    @Override
    public @Nullable Object invoke(Message<?> message, @Nullable Object... provided) throws Exception {
        if (method.isObserved()) {
            return observe(message, provided);
        }
        List<Message<?>> messages = method.isBatch()
                ? ((Collection<?>) message.getPayload())
                        .stream().<Message<?>>map(each -> (Message<?>) each).toList()
                : List.of(message);
        Object returned = call(new ListenerCall(this, messages, false), message);
        // Spring Cloud AWS treats every future as one of Void, and fails on any other result.
        if (returned instanceof CompletionStage<?> stage) {
            return stage.thenApply(result -> null);
        }
        return method.isAsync() ? CompletableFuture.completedFuture(null) : returned;
    }

    private @Nullable Object observe(Message<?> message, @Nullable Object... provided) throws Exception {
        Object returned;
        OBSERVED.set(method);
        try {
            returned = original.invoke(message, provided);
        } finally {
            OBSERVED.remove();
        }
        Class<?> unfinished = returned instanceof CompletionStage ? null : UnfinishedWork.in(returned);
        if (unfinished != null && !leftWork) {
            leftWork = true;
            log.warn(
                    "{} is only observed, and returned {}, whose work may not have ended: its keys are not recorded as completed, and with mode = enforce such a call fails",
                    method,
                    unfinished.getName());
        }
        return returned;
    }

    @Nullable Object callClaimed(List<Message<?>> held) throws Exception {
        return call(
                new ListenerCall(this, held, true),
                method.isBatch() ? new GenericMessage<>(new ArrayList<>(held)) : held.get(0));
    }

    private @Nullable Object call(ListenerCall call, Message<?> message) throws Exception {
        call.bind();
        try {
            return original.invoke(message);
        } catch (RuntimeException failure) {
            // If the aspect has not taken it, the method's arguments could not be resolved.
            throw ListenerCall.take() == null || !mayQuoteContent(failure) ? failure : withoutContent(call, failure);
        } finally {
            ListenerCall.take();
        }
    }

    /** Spring fails with the property's path, and the keys in it, where a validated payload cannot be asked for one. */
    private static boolean mayQuoteContent(Throwable failure) {
        return failure instanceof MessagingException
                || failure instanceof ConversionException
                || Causes.of(failure).anyMatch(InvalidPropertyException.class::isInstance);
    }

    /**
     * Returns the exception for arguments that cannot be resolved from a message: Spring's exceptions quote the value,
     * or payload and headers, with the sender's line breaks, and they end in logs.
     */
    private MessagingException withoutContent(ListenerCall call, RuntimeException failure) {
        Object message = method.isBatch()
                ? "A batch"
                : ReceivedMessage.require(call.messages().get(0));
        log.debug("Why {} cannot be handed to {}", message, method, RedactedException.of(failure));
        String problem = ("%s cannot be handed to %s: %s; send what it takes, or correct its parameters (DEBUG "
                        + "of %s has details)")
                .formatted(message, method, TypeAndPlace.of(failure), log.getName());
        log.error("Not handled, and ends in the dead-letter queue if there is one: {}", problem);
        return new MessageConversionException(problem);
    }
}
