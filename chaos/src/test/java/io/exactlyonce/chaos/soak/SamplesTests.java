package io.exactlyonce.chaos.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SamplesTests {

    private static final int MANY = 60;

    @TempDir
    private Path directory;

    private Samples samples;

    @BeforeEach
    void begin() {
        samples = new Samples(directory.resolve("samples.txt"));
    }

    /** A worker that gains this number of threads with each sample. */
    private void measure(String worker, int number, int growth) {
        for (int at = 0; at < number; at++) {
            samples.add(worker, new Sample(Map.of(Gauge.HEAP_KIB, 40_000L, Gauge.THREADS, 80L + growth * at)));
        }
    }

    @Test
    void workersThatHoldNoMoreThanBeforeAreFlat() throws Exception {
        measure("a", MANY, 0);
        measure("b", MANY, 0);

        assertThat(samples.judge(2).isFlat()).isTrue();
        assertThat(samples.judge(2).lines()).hasSize(2).allMatch(line -> line.contains("THREADS=80->80"));
        assertThat(Files.readAllLines(directory.resolve("samples.txt"))).hasSize(2 * MANY);
    }

    @Test
    void oneGaugeOfOneWorkerThatGrowsIsEnough() {
        measure("a", MANY, 0);
        measure("b", MANY, 1);

        assertThat(samples.judge(2).isFlat()).isFalse();
        assertThat(samples.judge(2).lines()).anyMatch(line -> line.startsWith("b") && line.contains("GROWS"));
    }

    @Test
    void workerThatEndedAndWasFollowedByAnotherIsNotFlat() {
        measure("a-1", MANY, 0);
        measure("a-2", MANY, 0);

        assertThat(samples.judge(1).isFlat()).isFalse();
    }

    @Test
    void workerThatWasNotMeasuredIsNotFlat() {
        measure("a", MANY, 0);

        assertThat(samples.judge(2).isFlat()).isFalse();
        assertThat(new Samples(directory.resolve("none")).judge(1).isFlat()).isFalse();
    }

    @Test
    void workerThatWasMeasuredSeldomIsNotFlat() {
        measure("a", Growth.FEWEST - 1, 0);

        assertThat(samples.judge(1).isFlat()).isFalse();
    }
}
