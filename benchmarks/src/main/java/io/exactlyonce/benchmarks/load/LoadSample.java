package io.exactlyonce.benchmarks.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * How busy the machine has been since its start, and the benchmarks' share of that; in clock ticks.
 *
 * @param all of all cores, busy or idle
 * @param busy of all programs, and what a hypervisor gave to other machines
 * @param own of the benchmarks and all that they started
 */
public record LoadSample(long all, long busy, long own) {

    /** In {@code /proc/stat}: user, nice, system; and, further on, steal. */
    private static final List<Integer> BUSY = List.of(0, 1, 2, 7);

    /** What guests use, which follows, counts as user time already. */
    private static final int COLUMNS = 8;

    private static final Path MACHINE = Path.of("/proc/stat");

    /** Returns how things stand; all zero where there is no {@code /proc/stat}. */
    public static LoadSample now() {
        try (Stream<String> lines = Files.lines(MACHINE)) {
            return of(lines.findFirst().orElseThrow(), ProcessTree.ownTicks());
        } catch (IOException unknown) {
            return new LoadSample(0, 0, 0);
        }
    }

    /**
     * Reads the machine's line. Interrupts are left out: most serve the loopback device, that is, the benchmarks, and kernels
     * differ in whether they count them as processes' time as well.
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

    /** Returns which part of the machine other programs have used since an earlier sample, in percent; NaN if unknown. */
    public double elsewherePercentSince(LoadSample earlier) {
        long capacity = all - earlier.all;
        long elsewhere = (busy - earlier.busy) - (own - earlier.own);
        return capacity == 0 ? Double.NaN : 100.0 * Math.max(0, Math.min(capacity, elsewhere)) / capacity;
    }
}
