package io.exactlyonce.benchmarks.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The processor time of a process and all processes that it started. An ended child counts as soon as its parent has
 * read its exit status. Without {@code /proc}, the time is zero.
 *
 * @param pid the process that started the others
 */
public record ProcessTree(long pid) {

    /** The unit in which Linux reports times on all machines (USER_HZ). */
    static final long TICKS_PER_SECOND = 100;

    /**
     * The columns after the program's name, which may contain anything: user, system, and the same of ended children.
     */
    private static final int FIRST_TIME = 11;

    private static final int LAST_TIME = 14;

    /** Processes that leave their parent when they start, as PostgreSQL does. */
    private static final Set<ProcessTree> ADOPTED = ConcurrentHashMap.newKeySet();

    /** Counts a process that has left its parent as part of the benchmarks. */
    public void adopt() {
        ADOPTED.add(this);
    }

    /** Reverts {@link #adopt()}. */
    public void release() {
        ADOPTED.remove(this);
    }

    /** Returns the processor time of all processes so far. Each counts with a resolution of a hundredth of a second. */
    public Duration processorTime() {
        return Duration.ofMillis(ticks(pids()) * 1_000 / TICKS_PER_SECOND);
    }

    /** Returns the clock ticks of the benchmarks, their children and adopted processes. */
    static long ownTicks() {
        return ticks(
                Stream.concat(Stream.of(new ProcessTree(ProcessHandle.current().pid())), ADOPTED.stream())
                        .flatMapToLong(ProcessTree::pids)
                        .distinct());
    }

    private LongStream pids() {
        return LongStream.concat(
                LongStream.of(pid),
                ProcessHandle.of(pid).stream()
                        .flatMap(ProcessHandle::descendants)
                        .mapToLong(ProcessHandle::pid));
    }

    private static long ticks(LongStream pids) {
        return pids.map(pid -> {
                    try {
                        return ticks(Files.readString(Path.of("/proc", Long.toString(pid), "stat")));
                    } catch (IOException ended) {
                        return 0;
                    }
                })
                .sum();
    }

    /**
     * Returns the processor time of a process and its ended children, in clock ticks.
     *
     * @param stat the content of {@code /proc/PID/stat}
     */
    static long ticks(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).trim().split(" ", -1);
        long ticks = 0;
        for (int field = FIRST_TIME; field <= LAST_TIME; field++) {
            ticks += Long.parseLong(fields[field]);
        }
        return ticks;
    }
}
