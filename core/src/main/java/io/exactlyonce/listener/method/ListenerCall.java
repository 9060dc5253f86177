package io.exactlyonce.listener.method;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.List;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.messaging.Message;

/**
 * A thread's call of a listener method: it gives the aspect, which sees only a method call, the deliveries behind it.
 * It can be taken once, so that no second call on the same thread runs under their claims.
 *
 * @param messages in their order: one, or those of a batch
 * @param isClaimed whether these are the messages whose keys are held; otherwise the method is called again, through its proxy, with
 *     arguments that are resolved of those
 */
record ListenerCall(DeliveryHandlerMethod handler, List<Message<?>> messages, boolean isClaimed) {

    private static final ThreadLocal<@Nullable ListenerCall> CURRENT = new ThreadLocal<>();

    void bind() {
        CURRENT.set(this);
    }

    static @Nullable ListenerCall take() {
        ListenerCall current = CURRENT.get();
        CURRENT.remove();
        return current;
    }

    /**
     * Makes the call, or has the pipeline make it under the claims of its messages.
     *
     * @return the result for the method's caller; {@code null} if it was not called
     */
    @Nullable Object make(MethodInvocation invocation, ObjectFactory<DeliveryPipeline> pipeline) throws Throwable {
        if (isClaimed) {
            return invocation.proceed();
        }
        List<Delivery> deliveries =
                messages.stream().map(ReceivedMessage::handedOn).toList();
        return pipeline.getObject()
                .handle(
                        deliveries,
                        held -> requireFuture(
                                isResolvedFor(held) ? invocation.proceed() : handler.callClaimed(messagesOf(held))));
    }

    /**
     * Returns whether the arguments, which were resolved before the aspect was called, are those to pass. Not in a
     * transaction: it claims the keys itself, and may call the handler again, for fewer messages, while an invocation
     * can proceed only once.
     */
    private boolean isResolvedFor(List<Delivery> held) {
        return handler.method().transaction() == null && held.size() == messages.size();
    }

    private List<Message<?>> messagesOf(List<Delivery> held) {
        return messages.stream()
                .filter(message ->
                        held.contains(ReceivedMessage.require(message).delivery()))
                .toList();
    }

    private @Nullable Object requireFuture(@Nullable Object returned) {
        if (returned == null && handler.method().isAsync()) {
            throw new IllegalStateException(
                    "%s returned null instead of a future, so the end of its work is unknown; return "
                                    .formatted(handler.method())
                            + "CompletableFuture.completedFuture(null) if there is nothing to wait for");
        }
        return returned;
    }
}
