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
import org.springframework.aop.framework.Advised;
import org.springframework.beans.InvalidPropertyException;
import org.springframework.core.convert.ConversionException;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessagingException;
import org.springframework.messaging.converter.MessageConversionException;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/**
 * Calls a listener's method for a message, or for a batch, as one {@link ListenerInvocation}. Delegates to the original
 * handler method, because a copy would lack the argument resolvers of the original.
 */
final class DeliveryHandlerMethod extends InvocableHandlerMethod {

    private static final Logger log = LoggerFactory.getLogger(DeliveryHandlerMethod.class);

    private final InvocableHandlerMethod original;
    private final ListenerMethod method;
    private final ListenerArguments arguments;
    private final ListenerProxies proxies;
    private final @Nullable Object beginning;
    private volatile boolean leftWork;

    /** Passes the method of an observed listener to {@link ClaimArgumentResolver}. */
    private final ListenerInvocation observing = new ListenerInvocation(this, List.of());

    /**
     * @param original calls the bean's method. If the method claims keys, the bean's proxies already contain the first
     *     and the last step of an invocation
     */
    DeliveryHandlerMethod(InvocableHandlerMethod original, ListenerMethod method) {
        super(original);
        this.original = original;
        this.method = method;
        this.arguments = new ListenerArguments(method, original.getMethodParameters());
        this.proxies = ListenerProxies.of(original.getBean());
        this.beginning = proxies.beginning(method.method());
    }

    ListenerMethod method() {
        return method;
    }

    ListenerArguments arguments() {
        return arguments;
    }

    /** Returns whether an object is one of the bean's proxies, which contain the steps of an invocation. */
    boolean isEnclosed(Object proxy) {
        for (Advised each : proxies.all()) {
            if (each == proxy) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the claim's transaction begins in this proxy. */
    boolean beginsIn(Object proxy) {
        return proxy == beginning;
    }

    /**
     * Returns whether an observed handler has finished its work when it returns. The answer depends on the handler's
     * return type, and on the results that the handler has returned so far.
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
            // Spring makes the arguments before the call reaches advice. An exception from that step may quote the
            // message.
            throw invocation.hasReachedAdvice() || !mayQuoteContent(failure)
                    ? failure
                    : withoutContent(invocation, failure);
        } finally {
            ListenerInvocation.leave();
        }
        // Spring Cloud AWS treats every future as a future of Void, and fails on any other result.
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
     * Throws an exception if a batch's result names failed messages. Spring Cloud AWS ignores results. Without the
     * exception, Spring Cloud AWS would delete all messages of the batch, including the failed ones.
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
     * Returns whether an exception's text may quote the message. For example, if a payload's property cannot be read,
     * Spring's exception contains the property's path, which may contain a map's key.
     */
    private static boolean mayQuoteContent(Throwable failure) {
        return failure instanceof MessagingException
                || failure instanceof ConversionException
                || Causes.of(failure).anyMatch(InvalidPropertyException.class::isInstance);
    }

    /**
     * Logs that arguments cannot be made from a message, and returns an exception in place of Spring's exception.
     * Spring's exception must not reach logs, because it quotes a value, or the payload and the headers, with the
     * sender's line breaks.
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
