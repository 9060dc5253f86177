package io.exactlyonce.observe;

import io.micrometer.context.integration.Slf4jThreadLocalAccessor;

/**
 * Copies the log context of a delivery to other threads, if the application propagates contexts. An application does
 * so with {@code ContextPropagatingTaskDecorator} or {@code spring.task.execution.propagate-context}, for example.
 * {@code ServiceLoader} finds this class.
 */
public final class DeliveryLogContextAccessor extends Slf4jThreadLocalAccessor {

    public DeliveryLogContextAccessor() {
        super(DeliveryLogContext.NAMES.toArray(String[]::new));
    }

    /**
     * Returns a key that differs from the key of Micrometer's own accessor, because an application may have registered
     * that accessor for other names.
     */
    @Override
    public Object key() {
        return "exactly-once.log-context";
    }
}
