package io.exactlyonce.chaos.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Fills the heap almost completely. Full collections follow each other, and the application runs only for moments
 * between them.
 */
final class GarbageCollection {

    private static final int OBJECTS = 400_000;

    private GarbageCollection() {}

    @SuppressWarnings("ReferenceEquality")
    static void last(Duration time) {
        List<Object> live = new ArrayList<>(OBJECTS);
        for (int i = 0; i < OBJECTS; i++) {
            live.add(new long[] {i, i, i, i});
        }
        long startNanos = System.nanoTime();
        while (System.nanoTime() - startNanos < time.toNanos()) {
            System.gc();
        }
        if (live.isEmpty()) {
            throw new IllegalStateException("They were live until now");
        }
    }
}
