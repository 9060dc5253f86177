package io.exactlyonce.sample.lab;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops resources in reverse order, whether the run ends by itself or the JVM receives a signal to stop. Closing twice
 * does nothing. A resource that is added after closing is closed at once.
 */
public final class Cleanup implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Cleanup.class);

    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private volatile boolean closed;

    /**
     * Adds a resource, which will be stopped before all earlier ones.
     *
     * @return the resource
     */
    public <T extends AutoCloseable> T add(T resource) {
        lock.lock();
        try {
            if (closed) {
                closeQuietly(resource);
                throw new IllegalStateException("The lab is being stopped");
            }
            resources.push(resource);
            return resource;
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether the run has ended, by itself or from outside. */
    boolean isClosed() {
        return closed;
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            while (!resources.isEmpty()) {
                closeQuietly(resources.pop());
            }
        } finally {
            lock.unlock();
        }
    }

    private static void closeQuietly(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            log.warn("Could not stop {}", resource, e);
        }
    }
}
