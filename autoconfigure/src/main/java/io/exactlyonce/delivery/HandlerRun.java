package io.exactlyonce.delivery;

/**
 * A handler's run on the thread that made this. An interrupt reaches the thread once at most, and only while it is
 * inside the handler: afterwards the thread completes claims or belongs to another delivery.
 */
public final class HandlerRun implements AutoCloseable {

    private final Thread thread = Thread.currentThread();
    private boolean inside = true;
    private boolean interrupted;

    public synchronized void interrupt() {
        if (inside && !interrupted) {
            interrupted = true;
            thread.interrupt();
        }
    }

    public synchronized boolean isInside() {
        return inside;
    }

    public synchronized boolean wasInterrupted() {
        return interrupted;
    }

    /** Leaves the handler, and takes back our own interrupt in case the handler did not notice it. */
    @Override
    public synchronized void close() {
        inside = false;
        if (interrupted) {
            Thread.interrupted();
        }
    }
}
