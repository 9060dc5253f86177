package io.exactlyonce.listener.method;

import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.util.ClassUtils;

/**
 * The aspect, and the gate: it calls a listener's method only for deliveries whose keys are held, or claims the keys in the
 * transaction that it calls the method in.
 */
final class ExactlyOnceInterceptor implements MethodInterceptor {

    private final ObjectFactory<DeliveryPipeline> pipeline;

    /** The pipeline is resolved at the first message: advice is made before ordinary beans may be. */
    ExactlyOnceInterceptor(ObjectFactory<DeliveryPipeline> pipeline) {
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
        return new ListenerCall(current, invocation).process(pipeline.getObject());
    }
}
