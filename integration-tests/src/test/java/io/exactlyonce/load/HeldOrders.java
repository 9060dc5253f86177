package io.exactlyonce.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Asynchronous handlers that need no thread, and that the test completes. */
class HeldOrders {

    private final Map<String, Integer> runs = new ConcurrentHashMap<>();
    private final Queue<CompletableFuture<Void>> held = new ConcurrentLinkedQueue<>();
    private volatile boolean released;

    CompletableFuture<Void> handle(String order) {
        runs.merge(order, 1, Integer::sum);
        CompletableFuture<Void> run = new CompletableFuture<>();
        held.add(run);
        if (released) {
            release();
        }
        return run;
    }

    /** Returns how often each order was handled. */
    Map<String, Integer> runs() {
        return runs;
    }

    /** Asserts the number of orders, and that each was handled once. */
    void assertEachOnce(int orders) {
        assertThat(runs)
                .hasSize(orders)
                .allSatisfy((order, times) -> assertThat(times).as(order).isEqualTo(1));
    }

    /** Completes some of the running handlers. */
    void release(int some) {
        for (int each = 0; each < some; each++) {
            CompletableFuture<Void> run = held.poll();
            if (run != null) {
                run.complete(null);
            }
        }
    }

    /** Completes all running handlers, and makes each later handler complete at once. */
    void release() {
        released = true;
        for (CompletableFuture<Void> run = held.poll(); run != null; run = held.poll()) {
            run.complete(null);
        }
    }
}
