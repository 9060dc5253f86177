package io.exactlyonce.window;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.exactlyonce.window.Report.Played;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LatencyFileTests {

    @TempDir
    private Path directory;

    @Test
    void fileIsPlayedAsAShapeIs() throws IOException {
        Shape shape = Shapes.GRADUAL.get(0);
        List<String> lines = new ArrayList<>(List.of("second,latency", "# of a shape", ""));
        shape.play(1, (second, latency) -> lines.add(second + "," + latency));

        SimulatedRun run = played(Files.write(directory.resolve("ramp.csv"), lines), shape.timeoutSeconds());

        assertThat(run.told()).isNotEmpty().isEqualTo(SimulatedRun.of(shape, 1).told());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1,2;3,4,5 | line 2 (3,4,5): write second,latency",
                "1,2;3,x | line 2 (3,x): write second,latency",
                "1,2;3,-1 | line 2 (3,-1): write second,latency",
                "2,1;1,1 | line 2 (1,1): second must not be before the one above it (2.0); sort the file by time",
                "second,latency | has no delivery"
            })
    void badLineIsNamed(String lines, String message) throws IOException {
        Path file = Files.write(directory.resolve("bad.csv"), List.of(lines.split(";")));

        assertThatIllegalArgumentException().isThrownBy(() -> played(file, 30)).withMessageContaining(message);
    }

    /** {@code -Dforecast.csv=FILE_OR_DIRECTORY -Dforecast.window=SECONDS}: prints the warnings and their times. */
    @Test
    @EnabledIfSystemProperty(named = "forecast.csv", matches = ".+")
    void filesFromOutsideArePlayed() throws IOException {
        double timeoutSeconds = Double.parseDouble(System.getProperty("forecast.window", "30"));
        assertThat(timeoutSeconds).as("forecast.window, in seconds").isBetween(1.0, 43_200.0);

        List<Played> runs = files(Path.of(System.getProperty("forecast.csv"))).stream()
                .map(file -> outside(file, timeoutSeconds))
                .toList();

        String report = Report.leads(runs);
        runs.forEach(each ->
                System.out.println(each.shape().name() + ": " + each.run().story()));
        System.out.println(report);
        Files.createDirectories(Path.of("target"));
        Files.writeString(Path.of("target", "forecast-csv.md"), report);
        assertThat(runs).isNotEmpty();
    }

    private static List<Path> files(Path path) throws IOException {
        if (!Files.isDirectory(path)) {
            return List.of(path);
        }
        try (Stream<Path> files = Files.list(path)) {
            return files.filter(file -> file.toString().endsWith(".csv"))
                    .sorted()
                    .toList();
        }
    }

    private static Played outside(Path file, double timeoutSeconds) {
        try {
            String name = String.valueOf(file.getFileName());
            return new Played(
                    new Shape(name, timeoutSeconds, Double.NaN, Double.NaN, (t, r) -> Double.NaN),
                    played(file, timeoutSeconds));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static SimulatedRun played(Path file, double timeoutSeconds) throws IOException {
        SimulatedRun run = new SimulatedRun(timeoutSeconds);
        LatencyFile.play(file, run);
        return run;
    }
}
