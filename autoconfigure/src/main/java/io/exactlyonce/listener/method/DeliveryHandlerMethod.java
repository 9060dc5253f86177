package io.exactlyonce.listener.method;

import io.exactlyonce.listener.message.ReceivedMessage;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/**
 * Binds the message to the thread while its listener method is called. It delegates, since the copy constructor loses the
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

    @Override
    public @Nullable Object invoke(Message<?> message, @Nullable Object... providedArguments) throws Exception {
        ReceivedMessage received = ReceivedMessage.require(message);
        new CurrentMessage(received, message, method).bind();
        try {
            return original.invoke(message, providedArguments);
        } catch (RuntimeException failure) {
            throw CurrentMessage.take() == null || !UnfitArguments.mayQuoteContent(failure)
                    ? failure
                    : UnfitArguments.withoutContent(received, method, message.getHeaders(), failure);
        } finally {
            CurrentMessage.unbind();
        }
    }
}
