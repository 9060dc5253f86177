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
 * A process and all that it started, by their processor time. Ended children count, as soon as their parent has asked how
 * they ended. Where there is no {@code /proc}, no time passes.
 *
 * @param pid the process that started the rest
 */
public record ProcessTree(long pid) {

    /** What Linux counts in, on all of its machines (USER_HZ). */
    static final long TICKS_PER_SECOND = 100;

    /** Behind the program's name, which may hold anything: user, system, and the same of ended children. */
    private static final int FIRST_TIME = 11;

    private static final int LAST_TIME = 14;

    /** PostgreSQL leaves its parent as it starts. */
    private static final Set<ProcessTree> ADOPTED = ConcurrentHashMap.newKeySet();

    /** Lets a process that has left its parent count among those of the benchmarks. */
    public void adopt() {
        ADOPTED.add(this);
    }

    /** Ends what {@link #adopt()} began. */
    public void release() {
        ADOPTED.remove(this);
    }

    /** Returns the processor time of all of them so far, to a hundredth of a second for each. */
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
     * @param stat what {@code /proc/PID/stat} holds
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
