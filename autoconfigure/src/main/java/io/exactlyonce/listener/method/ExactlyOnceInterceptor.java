package io.exactlyonce.listener.method;

import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.pipeline.Attempt;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
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
        CurrentBatch batch = CurrentBatch.take();
        if (batch != null) {
            return handle(batch, invocation);
        }
        CurrentMessage current = CurrentMessage.take();
        if (current == null) {
            throw new IllegalStateException(
                    "%s was called without a delivery, so there is nothing to claim; only its queue may call it"
                            .formatted(ClassUtils.getQualifiedMethodName(invocation.getMethod())));
        }
        ListenerMethod method = current.method();
        Delivery delivery = current.received().delivery();
        ClaimSpec handling;
        try {
            handling = method.handling(current.received(), current.message(), invocation.getArguments());
        } catch (InvalidKeyException unusable) {
            KeyFailure.tell(delivery, unusable);
            return method.nothing();
        }
        MethodHandler handler = new MethodHandler(method, invocation);
        CompletableFuture<@Nullable Object> recorded =
                pipeline.get().process(List.of(Attempt.single(delivery, handling)), handler);
        if (method.isAsync()) {
            return recorded;
        }
        Object result = recorded.join();
        return result == null ? method.nothing() : result;
    }

    private @Nullable Object handle(CurrentBatch batch, MethodInvocation invocation) throws Throwable {
        BatchSignature shape = Objects.requireNonNull(batch.method().batch());
        new BatchCall(batch, shape, invocation).process(pipeline.get());
        return batch.method().nothing();
    }
}
