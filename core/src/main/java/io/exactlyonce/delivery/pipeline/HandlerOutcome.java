package io.exactlyonce.delivery.pipeline;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The outcome of deliveries that are handled together, for the caller of the handler. */
final class HandlerOutcome {

    private final List<Throwable> failures = new ArrayList<>(0);
    private @Nullable Object result;

    /** Records the result of a single delivery. */
    void result(@Nullable Object result) {
        this.result = result;
    }

    @Nullable Object result() {
        return result;
    }

    void add(Throwable failure) {
        failures.add(failure);
    }

    /** Puts the handler's exception before all other failures. */
    void addHandlers(Throwable thrown) {
        failures.add(0, thrown);
    }

    List<Throwable> failures() {
        return failures;
    }

    /** Returns the first failure, with the others suppressed in it; {@code null} if there is none. */
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

    /** Returns the result, or throws the failure. */
    @Nullable Object resultOrThrow() throws Throwable {
        Throwable failure = failure();
        if (failure != null) {
            throw failure;
        }
        return result;
    }
}
