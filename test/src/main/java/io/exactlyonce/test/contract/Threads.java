package io.exactlyonce.test.contract;

import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs the same work in several threads that start at the same moment. */
final class Threads {

    private Threads() {}

    /**
     * Runs the work in several threads, and waits until all have ended. If one thread throws, the others are
     * interrupted. The caller gets an exception whose cause is that failure.
     */
    static void run(int count, Runnable work) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(count);
        try {
            CyclicBarrier start = new CyclicBarrier(count);
            Callable<Void> task = () -> {
                start.await(10, TimeUnit.SECONDS);
                work.run();
                return null;
            };
            var ended = new ExecutorCompletionService<Void>(executor);
            for (int i = 0; i < count; i++) {
                ended.submit(task);
            }
            for (int i = 0; i < count; i++) {
                Future<Void> next = ended.poll(60, TimeUnit.SECONDS);
                if (next == null) {
                    throw new AssertionError("%d of %d threads have not ended in 60 s".formatted(count - i, count));
                }
                next.get();
            }
        } finally {
            executor.shutdownNow();
        }
    }
}
