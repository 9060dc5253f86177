package io.exactlyonce.benchmarks.worker;

import com.sun.management.OperatingSystemMXBean;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Holds messages, and measures the cost. */
class Holding {

    private static final long LONGEST_SECONDS = 180;

    private final MessageListenerContainerRegistry containers;
    private final Tally tally;
    private final SqsTraffic traffic;
    private final HeldWork held;
    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    Holding(MessageListenerContainerRegistry containers, Tally tally, SqsTraffic traffic, HeldWork held) {
        this.containers = containers;
        this.tally = tally;
        this.traffic = traffic;
        this.held = held;
    }

    Hold.Result of(Hold hold) throws InterruptedException {
        tally.begin(hold.messages());
        traffic.begin(hold.messages());
        long before = heap();
        containers.getListenerContainers().forEach(MessageListenerContainer::start);
        held.await(hold.messages(), LONGEST_SECONDS);
        double heap = (heap() - before) / (double) hold.messages();
        List<Hold.Part> parts = measure(hold);
        held.release();
        traffic.await(LONGEST_SECONDS);
        containers.getListenerContainers().forEach(MessageListenerContainer::stop);
        return new Hold.Result(parts, heap, tally.duplicates(), tally.losses());
    }

    private List<Hold.Part> measure(Hold hold) throws InterruptedException {
        List<Hold.Part> parts = new ArrayList<>();
        for (int part = 0; part < hold.parts(); part++) {
            long changes = traffic.requests().changes();
            long processor = system.getProcessCpuTime();
            long time = System.nanoTime();
            TimeUnit.SECONDS.sleep(hold.partSeconds());
            parts.add(new Hold.Part(
                    traffic.requests().changes() - changes,
                    100.0 * (system.getProcessCpuTime() - processor) / (System.nanoTime() - time)));
        }
        return parts;
    }

    /**
     * Returns the heap in use after two collections, because objects that the first one finds unreachable may need the
     * second.
     */
    private static long heap() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
