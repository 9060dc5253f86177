package io.exactlyonce.listener.method;

import io.exactlyonce.BatchResult;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.RedactedException;
import io.exactlyonce.boundary.TypeAndPlace;
import io.exactlyonce.delivery.FailedItems;
import io.exactlyonce.delivery.UnfinishedWork;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.exactlyonce.queue.RepeatedLines;
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

/**
 * Calls a listener's method for a message or a batch. Each call is one {@link ListenerInvocation}. Wraps the handler
 * method that Spring has created, because a copy of it would lack the argument resolvers.
 */
final class DeliveryHandlerMethod extends InvocableHandlerMethod {

    private static final Logger log = LoggerFactory.getLogger(DeliveryHandlerMethod.class);

    private final InvocableHandlerMethod original;
    private final ListenerMethod method;
    private final ListenerArguments arguments;
    private final @Nullable Object beginning;
    private volatile boolean leftWork;

    /** Tells {@link ClaimArgumentResolver} that the method is in observe mode. */
    private final ListenerInvocation observing = new ListenerInvocation(this, List.of());

    /** @param original calls the bean's method, through the proxies that claim keys */
    DeliveryHandlerMethod(InvocableHandlerMethod original, ListenerMethod method) {
        super(original);
        this.original = original;
        this.method = method;
        this.arguments = new ListenerArguments(method, original.getMethodParameters());
        this.beginning = ListenerProxies.of(original.getBean()).beginning(method.method());
    }

    ListenerMethod method() {
        return method;
    }

    ListenerArguments arguments() {
        return arguments;
    }

    boolean beginsIn(Object proxy) {
        return proxy == beginning;
    }

    /**
     * Returns whether an observed handler's work is done when it returns. Returns false if the method's signature
     * permits unfinished work (for example a {@code Mono}), or if an earlier call has returned such work.
     */
    boolean signalsCompletion() {
        return method.signalsCompletion() && !leftWork;
    }

    @Override
    public @Nullable Object invoke(Message<?> message, @Nullable Object... provided) throws Exception {
        if (method.isObserved()) {
            return observe(message, provided);
        }
        ListenerInvocation invocation = new ListenerInvocation(this, messages(message));
        invocation.enter(original.getBean());
        Object returned;
        try {
            returned = original.invoke(message, provided);
        } catch (RuntimeException failure) {
            // If the call failed before the first advice ran, Spring could not make the method's arguments. Spring's
            // exception may quote the message, so another exception replaces it.
            throw invocation.hasReachedAdvice() || !mayQuoteContent(failure)
                    ? failure
                    : withoutContent(invocation, failure);
        } finally {
            ListenerInvocation.leave();
        }
        // Spring Cloud AWS expects a future without a value, and fails if the future has one.
        if (returned instanceof CompletionStage<?> stage) {
            return stage.thenApply(result -> null);
        }
        return method.isAsync() ? CompletableFuture.completedFuture(null) : returned;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // The container awaits it.
    private @Nullable Object observe(Message<?> message, @Nullable Object... provided) throws Exception {
        Object returned;
        observing.enter(original.getBean());
        try {
            returned = original.invoke(message, provided);
        } finally {
            ListenerInvocation.leave();
        }
        Class<?> unfinished = returned instanceof CompletionStage ? null : UnfinishedWork.in(returned);
        if (unfinished != null && !leftWork) {
            leftWork = true;
            log.warn(
                    "{} is only observed, and returned {}, whose work may not have ended: its keys are not recorded as completed, and with mode = enforce such a call fails",
                    method,
                    unfinished.getName());
        }
        if (returned instanceof CompletableFuture<?> later && method.isBatch()) {
            return later.thenApply(result -> requireAllSucceeded(result, message));
        }
        return requireAllSucceeded(returned, message);
    }

    /**
     * Throws an exception if a batch handler has returned a result that names failed messages. Spring Cloud AWS ignores
     * results, and would delete the failed messages too.
     */
    private @Nullable Object requireAllSucceeded(@Nullable Object result, Message<?> batch) {
        RuntimeException failed = FailedItems.in(result, method, size(batch));
        if (failed != null) {
            throw failed;
        }
        return result instanceof BatchResult ? null : result;
    }

    private static int size(Message<?> message) {
        return message.getPayload() instanceof Collection<?> batch ? batch.size() : 1;
    }

    private List<Message<?>> messages(Message<?> message) {
        if (!method.isBatch()) {
            return List.of(message);
        }
        Collection<?> batch = (Collection<?>) message.getPayload();
        List<Message<?>> messages = new ArrayList<>(batch.size());
        for (Object each : batch) {
            messages.add((Message<?>) each);
        }
        return messages;
    }

    /**
     * Returns whether an exception's text may quote the message. For example, Spring names a property that it cannot
     * read, and this name may be a map's key in the message.
     */
    private static boolean mayQuoteContent(Throwable failure) {
        return failure instanceof MessagingException
                || failure instanceof ConversionException
                || Causes.of(failure).anyMatch(InvalidPropertyException.class::isInstance);
    }

    /**
     * Logs that the handler's arguments cannot be made from a message, and returns an exception without the message's
     * content. Spring's own exception must not be logged, because it quotes what the sender has written.
     */
    private MessagingException withoutContent(ListenerInvocation invocation, RuntimeException failure) {
        ReceivedMessage first = ReceivedMessage.require(invocation.messages().get(0));
        Object message = method.isBatch() ? "A batch" : first;
        log.debug("Why {} cannot be handed to {}", message, method, RedactedException.of(failure));
        String problem = ("%s cannot be handed to %s: %s; send what it takes, or correct its parameters (DEBUG "
                        + "of %s has details)")
                .formatted(message, method, TypeAndPlace.of(failure), log.getName());
        first.delivery()
                .logLimited(
                        RepeatedLines.Kind.NO_ARGUMENT,
                        more -> log.error(
                                "Not handled, and ends in the dead-letter queue if there is one: {}{}", problem, more));
        return new MessageConversionException(problem);
    }
}
