package io.exactlyonce.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ReportTests {

    @TempDir
    private Path folder;

    private final Findings latency = new Findings("e");
    private final Findings startUp = new Findings("h");
    private Report report;

    @BeforeEach
    void make() {
        report = new Report(Map.of("commit", "abc123"), List.of(latency, startUp), folder.resolve("deep/results.json"));
        latency.table("Times", "| plain | 100 % |\n");
        latency.figure("e_p50_vs_jdbc", 1.25);
        latency.figure("e_other", Double.NaN);
        latency.ended(Duration.ofSeconds(125));
        startUp.figure("h_startup_ms", 300);
    }

    @Test
    void figuresAndCircumstancesAreReadableByPrograms() throws Exception {
        report.write();

        JsonNode results = JsonMapper.shared().readTree(Files.readString(folder.resolve("deep/results.json")));
        assertThat(results.propertyNames()).containsExactly("e_p50_vs_jdbc", "h_startup_ms", "run");
        assertThat(results.get("e_p50_vs_jdbc").asDouble()).isEqualTo(1.25);
        assertThat(results.get("run").get("commit").asString()).isEqualTo("abc123");
    }

    @Test
    void textStandsBesideAndHoldsTablesAndTargets() throws Exception {
        report.write();

        assertThat(Files.readString(folder.resolve("deep/report.md")))
                .isEqualTo(report.markdown())
                .contains("| commit | abc123 |")
                .contains("## (e)\n\nTimes\n\n| plain | 100 % |\n\nTook 2:05 min.")
                .contains("(`e_p50_vs_jdbc`) | 1.25 | 2.00 at most | met |")
                .contains("(`h_startup_ms`) | 300 | 250 at most | missed |")
                .contains("## (h)\n\nIt had not ended when this was written.");
    }

    @Test
    void targetsOfScenariosThatDidNotTakePartAreLeftOutAndMissingOnesReported() {
        startUp.ended(Duration.ZERO);
        Report other = new Report(Map.of(), List.of(new Findings("d")), folder.resolve("results.json"));

        assertThat(report.markdown()).doesNotContain("d_vs_pgbench_batch50");
        assertThat(other.markdown())
                .contains("(`d_vs_pgbench_batch50`) |  | 0.33 | not measured |")
                .doesNotContain("h_startup_ms");
    }

    @Test
    void figuresOfAnotherStateHaveTargetsOfTheirOwn() {
        Findings steady = new Findings("a", "_steady");
        steady.figure("a_external_vs_plain_c100", 0.6);

        assertThat(new Report(Map.of(), List.of(steady), folder.resolve("results.json")).markdown())
                .contains("(`a_external_vs_plain_c100_steady`) | 0.60 | 0.65 | missed |")
                .contains("(`a_external_vs_plain_c100`) |  | 0.75 | not measured |");
    }

    @Test
    void failureOfAScenarioIsReportedWithItsFindings() {
        latency.failed(new IllegalStateException("a duplicate"));

        assertThat(report.markdown())
                .contains("| plain | 100 % |\n\n**Failed:** java.lang.IllegalStateException: a duplicate");
    }

    @Test
    void circumstancesNameCommitAndMachine() {
        Map<String, String> facts =
                Circumstances.of(Clock.fixed(Instant.parse("2026-11-22T06:00:00Z"), ZoneOffset.UTC), "18.6");

        assertThat(facts)
                .containsEntry("date", "2026-11-22T06:00:00Z")
                .containsEntry("postgresql", "18.6")
                .containsEntry("cores", String.valueOf(Runtime.getRuntime().availableProcessors()))
                .containsKeys("commit", "built", "options", "memory", "jdk", "kernel")
                .allSatisfy((name, value) -> assertThat(value).as(name).isNotBlank());
    }

    @Test
    void targetsHaveDifferentKeys() {
        assertThat(Target.ALL).extracting(Target::key).doesNotHaveDuplicates();
    }
}
