package io.exactlyonce.delivery;

/**
 * A handler's run on the thread that made this. An interrupt reaches the thread once at most, and only while it is
 * inside the handler: afterwards the thread completes claims or belongs to another delivery.
 */
final class HandlerRun implements AutoCloseable {

    private final Thread thread = Thread.currentThread();
    private boolean inside = true;
    private boolean interrupted;

    synchronized void interrupt() {
        if (inside && !interrupted) {
            interrupted = true;
            thread.interrupt();
        }
    }

    synchronized boolean isInside() {
        return inside;
    }

    synchronized boolean wasInterrupted() {
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
