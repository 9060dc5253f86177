package io.exactlyonce.claim;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs the same work in several threads that start at the same moment. */
public final class Threads {

    private Threads() {}

    /** Waits until all threads have ended. Throws an exception that one of them threw. */
    public static void run(int count, Runnable work) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(count);
        try {
            CyclicBarrier start = new CyclicBarrier(count);
            Callable<Void> task = () -> {
                start.await(10, TimeUnit.SECONDS);
                work.run();
                return null;
            };
            List<Future<Void>> running = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                running.add(executor.submit(task));
            }
            for (Future<Void> thread : running) {
                thread.get(60, TimeUnit.SECONDS);
            }
        } finally {
            executor.shutdownNow();
        }
    }
}
