package io.exactlyonce.listener.method;

import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;

/** Binds the batch to the thread while its listener method is called; delegates as {@link DeliveryHandlerMethod} does. */
final class BatchHandlerMethod extends InvocableHandlerMethod {

    private final InvocableHandlerMethod original;
    private final ListenerMethod method;

    BatchHandlerMethod(InvocableHandlerMethod original, ListenerMethod method) {
        super(original);
        this.original = original;
        this.method = method;
    }

    @Override
    public @Nullable Object invoke(Message<?> message, @Nullable Object... providedArguments) throws Exception {
        CurrentBatch.of(message, method).bind();
        try {
            return original.invoke(message, providedArguments);
        } catch (RuntimeException failure) {
            throw CurrentBatch.take() == null || !UnfitArguments.mayQuoteContent(failure)
                    ? failure
                    : UnfitArguments.withoutContent("A batch", method, message.getHeaders(), failure);
        } finally {
            CurrentBatch.unbind();
        }
    }
}
