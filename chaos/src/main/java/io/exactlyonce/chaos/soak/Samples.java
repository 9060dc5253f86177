package io.exactlyonce.chaos.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** The samples of all workers of a run. Each worker must live for the whole run. Thread-safe. */
public final class Samples {

    private final Path file;
    private final long startNanos = System.nanoTime();
    private final Map<String, List<Sample>> byWorker = new TreeMap<>();

    /**
     * Makes an empty collection.
     *
     * @param file the file that gets a line for each sample
     */
    public Samples(Path file) {
        this.file = file;
    }

    /** Adds a worker's next sample. */
    public synchronized void add(String worker, Sample sample) {
        byWorker.computeIfAbsent(worker, any -> new ArrayList<>()).add(sample);
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
        try {
            Files.writeString(
                    file,
                    "%d s %s %s%n".formatted(seconds, worker, sample),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Judges the samples of the given number of workers. */
    public synchronized Judgement judge(int workers) {
        List<String> lines = new ArrayList<>();
        boolean flat = byWorker.size() == workers;
        if (!flat) {
            lines.add(
                    "%d workers were measured, and not %d: %s".formatted(byWorker.size(), workers, byWorker.keySet()));
        }
        for (Map.Entry<String, List<Sample>> worker : byWorker.entrySet()) {
            List<Sample> samples = worker.getValue();
            if (samples.size() < Growth.FEWEST) {
                flat = false;
                lines.add("%s: %d samples are too few".formatted(worker.getKey(), samples.size()));
            } else {
                List<Growth> growths = growths(samples);
                flat &= growths.stream().allMatch(Growth::isFlat);
                lines.add("%s: %d samples, %s".formatted(worker.getKey(), samples.size(), growths));
            }
        }
        return new Judgement(flat, lines);
    }

    /** Returns the growth of each gauge. A machine reports a gauge always or never. */
    private static List<Growth> growths(List<Sample> samples) {
        return Arrays.stream(Gauge.values())
                .filter(gauge -> samples.get(0).values().containsKey(gauge))
                .map(gauge -> Growth.of(gauge, values(samples, gauge)))
                .toList();
    }

    private static List<Long> values(List<Sample> samples, Gauge gauge) {
        return samples.stream()
                .map(sample -> Objects.requireNonNull(sample.values().get(gauge), gauge.name()))
                .toList();
    }

    /**
     * Whether all gauges are flat.
     *
     * @param lines one line for each worker, and for each missing measurement
     */
    public record Judgement(boolean isFlat, List<String> lines) {

        public Judgement {
            lines = List.copyOf(lines);
        }
    }
}
