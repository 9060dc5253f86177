package io.exactlyonce.benchmarks.worker;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** Handlers that run without a thread until they are released. */
class HeldWork {

    private final Tally tally;
    private final Queue<CompletableFuture<Void>> running = new ConcurrentLinkedQueue<>();

    HeldWork(Tally tally) {
        this.tally = tally;
    }

    CompletableFuture<Void> on(Order order) {
        tally.handled(order);
        CompletableFuture<Void> run = new CompletableFuture<>();
        running.add(run);
        return run;
    }

    /** Waits until this number of handlers run. */
    void await(int messages, long seconds) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (running.size() < messages && end - System.nanoTime() > 0) {
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }

    void release() {
        for (CompletableFuture<Void> run = running.poll(); run != null; run = running.poll()) {
            run.complete(null);
        }
    }
}
