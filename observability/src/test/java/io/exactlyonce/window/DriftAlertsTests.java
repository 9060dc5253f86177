package io.exactlyonce.window;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.window.Report.Played;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/**
 * Tests the alerts on latency. Promtool evaluates them on the gauges of simulated listeners, scraped once a minute. An
 * alert fires before the overrun of each drift, and no alert fires in thirty steady days.
 */
@Tag("ci")
@EnabledIf("hasPromtool")
class DriftAlertsTests {

    private static final Path PROMTOOL = Path.of("/usr/bin/promtool");
    private static final Path ALERTS = Path.of("..", "docs", "observability", "alerts.yml");
    private static final Path DIRECTORY = Path.of("target", "alerts");

    /**
     * The ramp of this shape becomes a jump during sixteen hours without deliveries, so no alert can fire before the
     * overrun.
     */
    private static final String LATE = "silent night between two days of a ramp";

    private static final String EXPECTATION = """
              - interval: 1m
                input_series:
            %s
                promql_expr_test:
                  - expr: 'count(count_over_time(ALERTS{alertstate="firing"}[60d])) > bool 0'
                    eval_time: %ds
                    exp_samples: %s
            """;

    static boolean hasPromtool() {
        return Files.isExecutable(PROMTOOL);
    }

    @Test
    void driftRaisesAnAlertBeforeItsOverrun() throws Exception {
        List<Played> drifts = Stream.concat(Shapes.GRADUAL.stream(), Shapes.FURTHER.stream())
                .map(shape -> Played.of(shape, 1))
                .toList();

        assertThat(Shapes.GRADUAL).hasSizeGreaterThanOrEqualTo(20);
        promtool("drifts", "1m", drifts.stream().map(each -> {
            long overrun = (long) each.run().overrunAt();
            return each.shape().name().equals(LATE) ? expectation(each, overrun, "[]") : raised(each, overrun);
        }));
    }

    private static String raised(Played each, long second) {
        return expectation(each, second, "[{labels: '{}', value: 1}]");
    }

    @Test
    void steadyDaysRaiseNoAlert() throws Exception {
        promtool(
                "steady",
                "5m",
                Shapes.STEADY.stream()
                        .map(shape -> Played.of(shape, 1))
                        .map(each -> expectation(each, (long) (each.shape().hours() * 3_600), "[]")));
    }

    private static String expectation(Played each, long second, String samples) {
        String series = Stream.of(
                        series(each, "window_utilization_ratio", "%.3f", SimulatedRun.Scrape::utilization),
                        series(each, "window_headroom_seconds", "%.2f", SimulatedRun.Scrape::headroom),
                        series(each, "window_exceeded_total", "%.0f", scrape -> scrape.exceeded()),
                        series(each, "delivery_seconds_count", "%.0f", scrape -> scrape.deliveries()))
                .collect(Collectors.joining("\n"));
        return EXPECTATION.formatted(series, second, samples);
    }

    private static String series(
            Played each, String meter, String format, ToDoubleFunction<SimulatedRun.Scrape> value) {
        return "      - series: 'exactly_once_%s{listener=\"%s\",queue=\"q\"}'%n        values: '%s'"
                .formatted(
                        meter,
                        each.shape().name(),
                        each.run().scrapes().stream()
                                .map(scrape -> String.format(Locale.ROOT, format, value.applyAsDouble(scrape)))
                                .collect(Collectors.joining(" ")));
    }

    private static void promtool(String name, String interval, Stream<String> expectations)
            throws IOException, InterruptedException {
        Files.createDirectories(DIRECTORY);
        List<String> lines = new ArrayList<>(List.of(
                "rule_files: ['%s']".formatted(ALERTS.toAbsolutePath().normalize()),
                "evaluation_interval: " + interval,
                "tests:"));
        expectations.forEach(lines::add);
        Path file = Files.write(DIRECTORY.resolve(name + ".yml"), lines);
        Path output = DIRECTORY.resolve(name + ".out");
        Process process = new ProcessBuilder(PROMTOOL.toString(), "test", "rules", file.toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(output)).isZero();
    }
}
