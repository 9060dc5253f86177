package io.exactlyonce.listener.method;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/**
 * Binds the message, or the batch, to the thread while its listener method is called. It delegates, since the copy constructor loses the
 * original's argument resolvers.
 */
final class DeliveryHandlerMethod extends InvocableHandlerMethod {

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
            throw CurrentDeliveries.take() == null || !UnfitArguments.mayQuoteContent(failure)
                    ? failure
                    : UnfitArguments.withoutContent(current.named(), method, message.getHeaders(), failure);
        } finally {
            CurrentDeliveries.unbind();
        }
    }

    /** Awspring takes every future for one of {@code Void}, and fails over any other result, of which it has no use. */
    private static @Nullable Object withoutResult(@Nullable Object returned) {
        return returned instanceof CompletableFuture<?> future ? future.thenApply(result -> null) : returned;
    }
}
