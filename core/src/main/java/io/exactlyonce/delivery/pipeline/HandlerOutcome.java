package io.exactlyonce.delivery.pipeline;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What became of deliveries that are handled together, for the caller of the handler. */
final class HandlerOutcome {

    private final List<Throwable> failures = new ArrayList<>(0);
    private @Nullable Object result;

    /** Notes the result of a delivery that comes alone. */
    void result(@Nullable Object result) {
        this.result = result;
    }

    @Nullable Object result() {
        return result;
    }

    void add(Throwable failure) {
        failures.add(failure);
    }

    /** Puts what the handler threw before everything else. */
    void addHandlers(Throwable thrown) {
        failures.add(0, thrown);
    }

    List<Throwable> failures() {
        return failures;
    }

    /** Returns what went wrong, if anything did; the rest of it is suppressed in the first. */
    @Nullable Throwable failure() {
        if (failures.isEmpty()) {
            return null;
        }
        Throwable first = failures.get(0);
        for (Throwable another : failures) {
            if (another != first) {
                first.addSuppressed(another);
            }
        }
        return first;
    }
}
