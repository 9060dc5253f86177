package io.exactlyonce.listener.method;

import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.listener.message.ReceivedMessage;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.messaging.Message;
import org.springframework.util.ClassUtils;

/** The aspect: claims the key of the current message around its listener method. */
final class ExactlyOnceInterceptor implements MethodInterceptor {

    private final Supplier<DeliveryPipeline> pipeline;

    /** The pipeline is resolved at the first message: advice is made before ordinary beans may be. */
    ExactlyOnceInterceptor(Supplier<DeliveryPipeline> pipeline) {
        this.pipeline = pipeline;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        CurrentDeliveries current = CurrentDeliveries.take();
        if (current == null) {
            throw new IllegalStateException(
                    "%s was called without a delivery, so there is nothing to claim; only its queue may call it"
                            .formatted(ClassUtils.getQualifiedMethodName(invocation.getMethod())));
        }
        BatchSignature shape = current.method().batch();
        if (shape == null) {
            return handle(current.messages().get(0), current.method(), invocation);
        }
        new BatchCall(current, shape, invocation).process(pipeline.get());
        return current.method().nothing();
    }

    private @Nullable Object handle(Message<?> message, ListenerMethod method, MethodInvocation invocation)
            throws Throwable {
        ReceivedMessage received = ReceivedMessage.require(message);
        Delivery delivery = received.delivery();
        ClaimSpec handling;
        try {
            handling = method.spec(message);
        } catch (InvalidKeyException unusable) {
            KeyExpression.logUnusable(delivery, unusable);
            return method.nothing();
        }
        CompletableFuture<@Nullable Object> recorded = pipeline.get()
                .process(List.of(Attempt.single(delivery, handling)), new MethodHandler(method, invocation));
        if (method.isAsync()) {
            return recorded;
        }
        Object result = recorded.join();
        return result == null ? method.nothing() : result;
    }
}
