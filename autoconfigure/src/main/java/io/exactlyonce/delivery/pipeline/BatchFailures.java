package io.exactlyonce.delivery.pipeline;

import java.util.ArrayList;
import java.util.List;

/** What went wrong in a batch: told by one exception, that of the handler if it threw one. */
final class BatchFailures {

    private final List<Throwable> all = new ArrayList<>();

    void add(Throwable failure) {
        all.add(failure);
    }

    void addHandlers(Throwable thrown) {
        all.add(0, thrown);
    }

    void throwIfAny() throws Throwable {
        if (all.isEmpty()) {
            return;
        }
        Throwable first = all.get(0);
        all.stream().filter(other -> other != first).forEach(first::addSuppressed);
        throw first;
    }
}
