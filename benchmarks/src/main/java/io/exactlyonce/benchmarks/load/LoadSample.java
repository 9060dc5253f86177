package io.exactlyonce.benchmarks.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The load of the machine since its start, and the benchmarks' share of it, in clock ticks.
 *
 * @param all all ticks of all cores, busy or idle
 * @param busy ticks of all programs, and ticks that a hypervisor gave to other machines
 * @param own ticks of the benchmarks and all processes that they started
 */
public record LoadSample(long all, long busy, long own) {

    /** Columns in {@code /proc/stat}: user, nice, system, and steal. */
    private static final List<Integer> BUSY = List.of(0, 1, 2, 7);

    /**
     * The number of columns that are added up. The next ones are the time of guests, which user time already contains.
     */
    private static final int COLUMNS = 8;

    private static final Path MACHINE = Path.of("/proc/stat");

    /** Returns the current load; all zero without {@code /proc/stat}. */
    public static LoadSample now() {
        try (Stream<String> lines = Files.lines(MACHINE)) {
            return of(lines.findFirst().orElseThrow(), ProcessTree.ownTicks());
        } catch (IOException unknown) {
            return new LoadSample(0, 0, 0);
        }
    }

    /**
     * Reads the machine's line. Interrupts are left out: most of them serve the loopback device and therefore the
     * benchmarks, and some kernels also include them in the times of processes.
     */
    static LoadSample of(String line, long own) {
        List<Long> columns = Stream.of(line.trim().split(" +"))
                .skip(1)
                .limit(COLUMNS)
                .map(Long::valueOf)
                .toList();
        long all = columns.stream().mapToLong(Long::longValue).sum();
        long busy = BUSY.stream().mapToLong(columns::get).sum();
        return new LoadSample(all, busy, own);
    }

    /**
     * Returns the share of the machine that other programs have used since an earlier sample, in percent; NaN if
     * unknown.
     */
    public double elsewherePercentSince(LoadSample earlier) {
        long capacity = all - earlier.all;
        long elsewhere = (busy - earlier.busy) - (own - earlier.own);
        return capacity == 0 ? Double.NaN : 100.0 * Math.max(0, Math.min(capacity, elsewhere)) / capacity;
    }
}
