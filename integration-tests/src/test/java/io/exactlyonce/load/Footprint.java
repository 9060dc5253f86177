package io.exactlyonce.load;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;

/** Measures the memory and threads that this JVM has taken since a moment. */
final class Footprint {

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final long heapBefore = heap();
    private final int threadsBefore = threads.getThreadCount();
    private final long processorBefore = system.getProcessCpuTime();
    private final long start = System.nanoTime();

    private Footprint() {
        threads.resetPeakThreadCount();
    }

    /** Starts a measurement. */
    static Footprint begin() {
        return new Footprint();
    }

    /** Returns the largest number of additional threads since the beginning. */
    int mostThreads() {
        return threads.getPeakThreadCount() - threadsBefore;
    }

    /** Returns how much more of the heap is in use than at the beginning. */
    long heapBytes() {
        return heap() - heapBefore;
    }

    /** Returns the processor time of this whole process, which may include the servers. */
    Duration processorTime() {
        return Duration.ofNanos(system.getProcessCpuTime() - processorBefore);
    }

    Duration time() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** Returns the names of running threads that begin with a prefix. */
    static List<String> threads(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith(prefix))
                .sorted()
                .toList();
    }

    /** Collects twice, because objects that the first collection finds unreachable may need a second collection. */
    private static long heap() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
