package io.exactlyonce.observe;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Adds {@code listener}, {@code receiveCount}, {@code keyHash}, {@code attempt} and {@code claim} to the log lines of a
 * running handler. They are MDC values of the handler's thread.
 *
 * <p>If the message has no key, only {@code listener} and {@code receiveCount} are set. For a batch handler, only
 * {@code listener} is set. When the handler returns, the thread has its earlier values again.
 */
public final class DeliveryLogContext implements DeliveryObserver {

    static final Set<String> NAMES = Set.of("listener", "receiveCount", "keyHash", "attempt", "claim");

    @Override
    public HandlerScope handling(List<Delivery> deliveries) {
        Map<String, String> before = current();
        set(describe(deliveries));
        return () -> set(before);
    }

    private static Map<String, String> describe(List<Delivery> deliveries) {
        Delivery first = deliveries.get(0);
        Map<String, String> values = new HashMap<>();
        values.put("listener", first.subscription().listener());
        if (deliveries.size() == 1) {
            values.put("receiveCount", Integer.toString(first.receiveCount()));
        }
        if (deliveries.size() == 1 && !first.isUnprotected()) {
            values.put("keyHash", first.attempt().key().keyHash());
            values.put("attempt", Integer.toString(first.attempt().claim().attempt()));
            values.put("claim", first.attempt().id().value().toString());
        }
        return values;
    }

    /** Returns this thread's MDC values of {@link #NAMES}. */
    static Map<String, String> current() {
        Map<String, String> values = new HashMap<>();
        for (String name : NAMES) {
            @Nullable String value = MDC.get(name);
            if (value != null) {
                values.put(name, value);
            }
        }
        return values;
    }

    /** Replaces this thread's MDC values of {@link #NAMES}. A name that is missing from the map is removed. */
    static void set(Map<String, String> values) {
        NAMES.forEach(MDC::remove);
        values.forEach(MDC::put);
    }
}
