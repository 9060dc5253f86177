package io.exactlyonce.window.foresight;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.window.foresight.Report.Played;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The advisor over virtual hours and months. What it reports depends on seeds alone, and is a section of {@code
 * docs/performance.md}.
 */
class ForesightSimulationTests {

    private static final Path REPORT = Path.of("target", "foresight.md");
    private static final Path DOCS = Path.of("..", "docs", "performance.md");

    private static List<Played> gradual = List.of();
    private static List<Played> jumps = List.of();
    private static List<Played> steady = List.of();

    @BeforeAll
    static void play() throws IOException {
        gradual = Shapes.GRADUAL.parallelStream().map(Played::of).toList();
        jumps = Shapes.JUMPS.parallelStream().map(Played::of).toList();
        steady = Shapes.STEADY.parallelStream().map(Played::of).toList();
        Files.createDirectories(REPORT.getParent());
        Files.writeString(REPORT, String.join("\n", sections()));
    }

    private static List<String> sections() {
        List<Played> drifts = new ArrayList<>(gradual);
        drifts.addAll(jumps);
        return List.of(Report.leads(drifts), Report.alarms(steady));
    }

    @Test
    void driftIsForeseenByTenWindowsOrFiveMinutesInNineteenOfTwentyShapes() {
        List<String> late = gradual.stream()
                .filter(each -> !each.run().isEarly())
                .map(each -> each.shape().name())
                .toList();

        assertThat(gradual).hasSizeGreaterThanOrEqualTo(20);
        assertThat(gradual)
                .allSatisfy(each -> assertThat(each.run().overrunAt())
                        .as(each.shape().name())
                        .isNotNaN());
        assertThat(late).hasSizeLessThanOrEqualTo(gradual.size() / 20);
    }

    @Test
    void jumpIsToldWithinAMinute() {
        assertThat(jumps)
                .isNotEmpty()
                .allSatisfy(each ->
                        assertThat(each.run().lead()).as(each.shape().name()).isGreaterThanOrEqualTo(-60));
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
        // The first hour of these is steady.
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
