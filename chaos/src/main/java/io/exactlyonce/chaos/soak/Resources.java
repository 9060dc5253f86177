package io.exactlyonce.chaos.soak;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/** The resources that this JVM holds. */
public final class Resources {

    private static final long KIB = 1_024;

    private Resources() {}

    /**
     * Collects all garbage, and measures the remaining resources.
     *
     * @param servers the gauge for connections to each remote port; {@link Gauge#OTHER_CONNECTIONS} counts all others
     */
    public static Sample measure(Map<Integer, Gauge> servers) {
        System.gc();
        Map<Gauge, Long> values = new EnumMap<>(Gauge.class);
        values.put(Gauge.HEAP_KIB, used(MemoryType.HEAP, MemoryPoolMXBean::getCollectionUsage));
        values.put(Gauge.METASPACE_KIB, used(MemoryType.NON_HEAP, Resources::metaspace));
        values.put(Gauge.THREADS, (long) ManagementFactory.getThreadMXBean().getThreadCount());
        if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix) {
            values.put(Gauge.DESCRIPTORS, unix.getOpenFileDescriptorCount());
        }
        values.putAll(Sockets.count(servers));
        return new Sample(values);
    }

    /**
     * Returns the usage of a metaspace pool. Pools of compiled code are left out, because they grow as long as the JVM
     * finds code to compile.
     */
    private static MemoryUsage metaspace(MemoryPoolMXBean pool) {
        return pool.getName().equals("Metaspace") ? pool.getUsage() : new MemoryUsage(0, 0, 0, 0);
    }

    private static long used(MemoryType type, Function<MemoryPoolMXBean, MemoryUsage> usage) {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                        .filter(pool -> pool.getType() == type)
                        .map(usage)
                        .filter(Objects::nonNull)
                        .mapToLong(MemoryUsage::getUsed)
                        .sum()
                / KIB;
    }
}
