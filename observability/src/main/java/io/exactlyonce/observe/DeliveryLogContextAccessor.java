package io.exactlyonce.observe;

import io.micrometer.context.integration.Slf4jThreadLocalAccessor;

/**
 * Carries the log's context of a delivery to other threads where an application propagates contexts, as with {@code
 * ContextPropagatingTaskDecorator} or {@code spring.task.execution.propagate-context}. Found by {@code ServiceLoader}.
 */
public final class DeliveryLogContextAccessor extends Slf4jThreadLocalAccessor {

    public DeliveryLogContextAccessor() {
        super(DeliveryLogContext.NAMES.toArray(String[]::new));
    }

    /** Leaves Micrometer's own key to the accessor that an application may register for other names. */
    @Override
    public Object key() {
        return "exactly-once.log-context";
    }
}
