package io.exactlyonce.load;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;

/** The memory and threads that this JVM has taken since a moment. */
final class Footprint {

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final long heapBefore = heap();
    private final int threadsBefore = threads.getThreadCount();
    private final long processorBefore = system.getProcessCpuTime();
    private final long begun = System.nanoTime();

    private Footprint() {
        threads.resetPeakThreadCount();
    }

    /** Counts from now on. */
    static Footprint begin() {
        return new Footprint();
    }

    /** Returns how many threads there were more than at the beginning, at the most. */
    int mostThreads() {
        return threads.getPeakThreadCount() - threadsBefore;
    }

    /** Returns how much more of the heap is in use than at the beginning. */
    long heapBytes() {
        return heap() - heapBefore;
    }

    /** Returns the processor time of this whole process, which may have the servers in it. */
    Duration processorTime() {
        return Duration.ofNanos(system.getProcessCpuTime() - processorBefore);
    }

    Duration time() {
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    /** Returns the names of running threads that begin with a prefix. */
    static List<String> threads(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith(prefix))
                .sorted()
                .toList();
    }

    /** Twice: what the first collection finds unreachable may need a second one. */
    private static long heap() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
