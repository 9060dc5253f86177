package io.exactlyonce.chaos.run;

import java.util.ArrayDeque;
import java.util.Deque;

/** Stops resources in reverse order, whether the run ends by itself or the JVM receives a signal to stop. */
final class Cleanup implements AutoCloseable {

    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private boolean closed;

    synchronized <T extends AutoCloseable> T add(T resource) {
        if (closed) {
            closeQuietly(resource);
            throw new IllegalStateException("The run is being stopped");
        }
        resources.push(resource);
        return resource;
    }

    @Override
    public synchronized void close() {
        closed = true;
        while (!resources.isEmpty()) {
            closeQuietly(resources.pop());
        }
    }

    private static void closeQuietly(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            System.err.println("Could not stop %s: %s".formatted(resource, e));
        }
    }
}
