package io.exactlyonce.delivery.pipeline;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects the handler's result and the failures of its deliveries. The caller then gets the result, or the first
 * failure.
 */
final class HandlerOutcome {

    private final List<Throwable> failures = new ArrayList<>(0);
    private @Nullable Object result;

    /** Sets the result for the caller. */
    void result(@Nullable Object result) {
        this.result = result;
    }

    @Nullable Object result() {
        return result;
    }

    void add(Throwable failure) {
        failures.add(failure);
    }

    /** Adds the handler's own exception in front of all other failures, because the first one is thrown. */
    void addHandlers(Throwable thrown) {
        failures.add(0, thrown);
    }

    List<Throwable> failures() {
        return failures;
    }

    /** Returns the first failure, with the others as suppressed exceptions. Returns {@code null} if nothing failed. */
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

    /** Returns the result, or throws the first failure. */
    @Nullable Object resultOrThrow() throws Throwable {
        Throwable failure = failure();
        if (failure != null) {
            throw failure;
        }
        return result;
    }
}
