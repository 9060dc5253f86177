package io.exactlyonce.observe;

import io.exactlyonce.delivery.DeliveryObserver;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Puts into every line that a handler logs what it is about: {@code listener}, {@code receiveCount}, {@code key} (hashed, as
 * in the engine's own lines), {@code attempt} and {@code claim}. A handler of several messages has the listener only. What
 * the thread had under these names before is there again when the handler's method has returned.
 */
public final class DeliveryLogContext implements DeliveryObserver {

    static final Set<String> NAMES = Set.of("listener", "receiveCount", "key", "attempt", "claim");

    @Override
    public HandlerScope handling(List<HandlerCall> calls) {
        Map<String, String> before = current();
        set(describe(calls));
        return () -> set(before);
    }

    private static Map<String, String> describe(List<HandlerCall> calls) {
        HandlerCall first = calls.get(0);
        Map<String, String> values = new HashMap<>();
        values.put("listener", first.delivery().subscription().listener());
        if (calls.size() == 1) {
            values.put("receiveCount", Integer.toString(first.delivery().receiveCount()));
            values.put("key", first.claim().key().shortHash());
            values.put("attempt", Integer.toString(first.attempt()));
            values.put("claim", first.claim().value().toString());
        }
        return values;
    }

    /** Returns what this thread's context has under our names. */
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

    /** Gives this thread's context these values, and none other, under our names. */
    static void set(Map<String, String> values) {
        NAMES.forEach(MDC::remove);
        values.forEach(MDC::put);
    }
}
