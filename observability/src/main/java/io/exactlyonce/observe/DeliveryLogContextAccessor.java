package io.exactlyonce.observe;

import io.micrometer.context.integration.Slf4jThreadLocalAccessor;

/**
 * Copies the MDC values of a delivery to other threads that a handler uses. For this, the application must propagate
 * contexts, for example with {@code ContextPropagatingTaskDecorator} or
 * {@code spring.task.execution.propagate-context}. Micrometer loads this class with {@code ServiceLoader}.
 */
public final class DeliveryLogContextAccessor extends Slf4jThreadLocalAccessor {

    public DeliveryLogContextAccessor() {
        super(DeliveryLogContext.NAMES.toArray(String[]::new));
    }

    /**
     * Returns a key that differs from that of Micrometer's own MDC accessor. So an application can register both
     * accessors.
     */
    @Override
    public Object key() {
        return "exactly-once.log-context";
    }
}
