package io.exactlyonce.listener.method;

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
            return original.invoke(message, providedArguments);
        } catch (RuntimeException failure) {
            throw CurrentDeliveries.take() == null || !UnfitArguments.mayQuoteContent(failure)
                    ? failure
                    : UnfitArguments.withoutContent(current.named(), method, message.getHeaders(), failure);
        } finally {
            CurrentDeliveries.unbind();
        }
    }
}
