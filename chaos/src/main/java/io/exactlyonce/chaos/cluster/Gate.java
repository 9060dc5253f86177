package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;

/** Lets a wire's bytes pass or wait, or fails if the wire is cut. */
final class Gate {

    private Traffic traffic = Traffic.open();

    synchronized void set(Traffic next) {
        this.traffic = next;
        notifyAll();
    }

    /**
     * Waits until bytes may pass.
     *
     * @throws IOException if the wire is cut
     */
    void pass(boolean requests) throws IOException {
        try {
            TimeUnit.NANOSECONDS.sleep(delayNanos());
            if (awaitOpen(requests).kind() == Traffic.Kind.CUT) {
                throw new IOException("The wire is cut");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted at a closed gate");
        }
    }

    private synchronized long delayNanos() {
        return traffic.delay().toNanos();
    }

    private synchronized Traffic awaitOpen(boolean requests) throws InterruptedException {
        while (traffic.holds(requests)) {
            wait();
        }
        return traffic;
    }
}
