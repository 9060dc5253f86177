package io.exactlyonce.benchmarks.worker;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/**
 * The heap that this process's threads allocate from a given time. Threads that end before the reading, the JVM's own
 * threads and virtual threads are left out.
 */
final class Allocations {

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Map<Long, Long> before = byThread();

    /** Returns the bytes that were allocated since this object was made. */
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
            // The value is negative if the thread has ended.
            bytes.put(ids[thread], Math.max(0, allocated[thread]));
        }
        return bytes;
    }
}
