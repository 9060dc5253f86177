package io.exactlyonce.observe;

import io.micrometer.context.ThreadLocalAccessor;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Has the log's context of a delivery go along where an application propagates contexts to other threads, as with {@code
 * ContextPropagatingTaskDecorator} or {@code spring.task.execution.propagate-context}. Found by {@code ServiceLoader}.
 */
public final class DeliveryLogContextAccessor implements ThreadLocalAccessor<Map<String, String>> {

    @Override
    public Object key() {
        return "exactly-once.log-context";
    }

    @Override
    public @Nullable Map<String, String> getValue() {
        Map<String, String> values = DeliveryLogContext.current();
        return values.isEmpty() ? null : values;
    }

    @Override
    public void setValue(Map<String, String> values) {
        DeliveryLogContext.set(values);
    }

    @Override
    public void setValue() {
        DeliveryLogContext.set(Map.of());
    }
}
