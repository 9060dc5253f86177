package io.exactlyonce.delivery.pipeline;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The attempts that go through the pipeline together, and what went wrong with them: told by one exception. */
final class Batch {

    private static final Logger log = LoggerFactory.getLogger(Batch.class);

    private final List<Attempt> attempts;
    private final List<Throwable> failures = new ArrayList<>();
    private final List<Attempt> done = new ArrayList<>();
    private final List<Attempt> failed = new ArrayList<>();

    Batch(List<Attempt> attempts) {
        this.attempts = attempts;
    }

    List<Attempt> attempts() {
        return attempts;
    }

    /** All have been processed. Each leaves as soon as how that ended is on record. */
    void leave() {
        attempts.forEach(Attempt::leave);
    }

    /** Returns those whose effect has happened. */
    List<Attempt> done() {
        return done;
    }

    List<Attempt> failed() {
        return failed;
    }

    void addFailure(Throwable failure) {
        failures.add(failure);
    }

    /** Puts what the handler threw before everything else. */
    void addHandlersFailure(Throwable thrown) {
        failures.add(0, thrown);
    }

    /** Tells of what went wrong where there is no caller to throw it at. */
    void logFailures() {
        failures.forEach(failure -> log.warn("Not handled: {}", failure.getMessage()));
    }

    /** Returns what went wrong, if anything did; the rest of it is suppressed in the first. */
    @Nullable Throwable failure() {
        if (failures.isEmpty()) {
            return null;
        }
        Throwable first = failures.get(0);
        failures.stream().filter(another -> another != first).forEach(first::addSuppressed);
        return first;
    }
}
