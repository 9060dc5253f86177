package io.exactlyonce.benchmarks.worker;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/**
 * The heap that this process's threads allocate from a moment on. Threads that end before it is read are left out, and so are the
 * JVM's own and virtual ones.
 */
final class Allocations {

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Map<Long, Long> before = byThread();

    /** Returns how many bytes have been allocated since this was made. */
    long bytes() {
        return byThread().entrySet().stream()
                .mapToLong(thread -> thread.getValue() - before.getOrDefault(thread.getKey(), 0L))
                .sum();
    }

    private Map<Long, Long> byThread() {
        long[] ids = threads.getAllThreadIds();
        long[] allocated = threads.getThreadAllocatedBytes(ids);
        Map<Long, Long> bytes = new HashMap<>();
        for (int thread = 0; thread < ids.length; thread++) {
            // Negative if the thread has ended.
            bytes.put(ids[thread], Math.max(0, allocated[thread]));
        }
        return bytes;
    }
}
