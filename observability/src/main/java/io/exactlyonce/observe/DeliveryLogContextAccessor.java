package io.exactlyonce.observe;

import io.micrometer.context.integration.Slf4jThreadLocalAccessor;

/**
 * Carries the delivery's log context to other threads if the application propagates contexts, for example with
 * {@code ContextPropagatingTaskDecorator} or {@code spring.task.execution.propagate-context}. Found by
 * {@code ServiceLoader}.
 */
public final class DeliveryLogContextAccessor extends Slf4jThreadLocalAccessor {

    public DeliveryLogContextAccessor() {
        super(DeliveryLogContext.NAMES.toArray(String[]::new));
    }

    /**
     * Returns a key that differs from Micrometer's own. An application may register an accessor with Micrometer's key
     * for other names.
     */
    @Override
    public Object key() {
        return "exactly-once.log-context";
    }
}
