package io.exactlyonce.window;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.window.Report.Played;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Tests the warning rule over virtual hours and months. The reports depend only on seeds, and are part of {@code
 * docs/contributing/forecasting.md}.
 */
class ForecastSimulationTests {

    private static final Path REPORT = Path.of("target", "forecast.md");
    private static final Path DOCS = Path.of("..", "docs", "contributing", "forecasting.md");

    private static final int SEEDS = 3;

    /**
     * Shapes whose warning comes too late. In the first four shapes p95 varies, and reaches the visibility timeout by
     * chance before the rule is certain of 80 %. In the last shape, the ramp becomes a jump during a night without
     * deliveries.
     */
    private static final List<String> LATE = List.of(
            "ramp over 24 hours, window 300 s",
            "ramp over 3 days, window 60 s",
            "slow partner serves ever more (bimodal, share grows)",
            "growing tail, flat median",
            "silent night between two days of a ramp");

    private static List<Played> gradual = List.of();
    private static List<Played> further = List.of();
    private static List<Played> jumps = List.of();
    private static List<Played> steady = List.of();

    @BeforeAll
    static void play() throws IOException {
        gradual = Shapes.GRADUAL.parallelStream()
                .map(shape -> Played.of(shape, 1))
                .toList();
        further = LongStream.rangeClosed(1, SEEDS)
                .boxed()
                .flatMap(seed -> Shapes.FURTHER.stream().<Supplier<Played>>map(shape -> () -> Played.of(shape, seed)))
                .toList()
                // Streams within flatMap are never parallel.
                .parallelStream()
                .map(Supplier::get)
                .toList();
        jumps = Shapes.JUMPS.parallelStream().map(shape -> Played.of(shape, 1)).toList();
        steady =
                Shapes.STEADY.parallelStream().map(shape -> Played.of(shape, 1)).toList();
        Files.createDirectories(REPORT.getParent());
        Files.writeString(REPORT, String.join("\n", sections()));
    }

    private static List<String> sections() {
        List<Played> drifts = new ArrayList<>(gradual);
        drifts.addAll(further.subList(0, Shapes.FURTHER.size()));
        drifts.addAll(jumps);
        return List.of(Report.leads(drifts), Report.alarms(steady));
    }

    @Test
    void driftIsReportedBeforeItsOverrunUnlessChanceOrAJumpBringsIt() {
        assertThat(gradual).hasSizeGreaterThanOrEqualTo(20);
        assertThat(gradual)
                .allSatisfy(each -> assertThat(each.run().overrunAt())
                        .as(each.shape().name())
                        .isNotNaN());
        assertThat(late(gradual)).containsExactlyInAnyOrderElementsOf(LATE);
        assertThat(further).hasSize(30);
        assertThat(late(further)).hasSizeLessThanOrEqualTo(further.size() / 20);
    }

    private static List<String> late(List<Played> runs) {
        return runs.stream()
                .filter(each -> !(each.run().lead() > 0))
                .map(each -> each.shape().name())
                .toList();
    }

    @Test
    void overrunThatLastsIsReported() {
        assertThat(Stream.of(gradual, further, jumps).flatMap(List::stream))
                .allSatisfy(each -> assertThat(each.run().told())
                        .as(each.shape().name())
                        .extracting(SimulatedRun.Told::kind)
                        .contains(WindowWarning.Kind.BREACHED));
    }

    @Test
    void jumpIsReportedWithinSeventySeconds() {
        assertThat(jumps)
                .isNotEmpty()
                .allSatisfy(each ->
                        assertThat(each.run().lead()).as(each.shape().name()).isGreaterThanOrEqualTo(-70));
    }

    @Test
    void thirtySteadyDaysRaiseNoAlarm() {
        assertThat(steady).hasSizeGreaterThanOrEqualTo(5).allSatisfy(each -> {
            assertThat(each.shape().hours()).isEqualTo(30 * 24);
            assertThat(each.run().samples()).isGreaterThan(40_000);
            assertThat(each.run().told()).as(each.shape().name()).isEmpty();
        });
    }

    @Test
    void nothingIsAnnouncedLongBeforeDriftBegins() {
        // The first hour of these shapes is steady.
        assertThat(gradual)
                .allSatisfy(each -> assertThat(each.run().warnedAt())
                        .as(each.shape().name())
                        .isGreaterThan(1_200));
    }

    @Test
    void documentedTablesAreThese() throws IOException {
        assertThat(Files.readString(DOCS)).contains(sections());
    }
}
