package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Alerts, dashboard and pages use existing meters. {@code PrometheusIT} shows that applications expose the same ones.
 */
class ObservabilityFilesTests {

    /** The claim table has a similar name, but is not a meter. */
    private static final Pattern METER = Pattern.compile("\\bexactly_once_(?!claim\\b)[a-z_]+");

    private static final Pattern ALERT = Pattern.compile("(?m)^ *- alert: (\\w+)$");

    private static String read(String file) throws IOException {
        return Files.readString(Path.of("../docs").resolve(file));
    }

    private static Set<String> all(Pattern pattern, int group, String text) {
        Matcher matcher = pattern.matcher(text);
        Set<String> found = new TreeSet<>();
        while (matcher.find()) {
            found.add(matcher.group(group));
        }
        return found;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "observability/alerts.yml",
                "observability/alerts-tests.yml",
                "observability/alerts-recorded-tests.yml",
                "observability/dashboard.json",
                "monitoring.md",
                "troubleshooting.md",
                "metrics.md"
            })
    void metersOfTheQueriesExist(String file) throws IOException {
        Set<String> meters = MetricsPageTests.all().rows().keySet();

        Set<String> unknown = all(METER, 0, read(file)).stream()
                .filter(name ->
                        !meters.contains(name) && !meters.contains(name.replaceFirst("_(bucket|count|sum|max)$", "")))
                .collect(Collectors.toSet());

        assertThat(all(METER, 0, read(file))).hasSizeGreaterThan(2);
        assertThat(unknown).as("meters in %s that no application has", file).isEmpty();
    }

    @Test
    void everyAlertIsTestedAndHasAParagraphOfTheRunbook() throws IOException {
        Set<String> alerts = all(ALERT, 1, read("observability/alerts.yml"));
        String tests = read("observability/alerts-tests.yml");
        String runbook = read("monitoring.md");

        assertThat(alerts).hasSize(16).allSatisfy(alert -> {
            assertThat(tests).contains(alert);
            assertThat(runbook).contains("### " + alert + "\n");
            assertThat(read("observability/alerts.yml"))
                    .contains("docs/monitoring.md#" + alert.toLowerCase(Locale.ROOT) + "\n");
        });
    }
}
