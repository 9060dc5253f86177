package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.actuate.ExactlyOnceConsoleEndpoint;
import io.exactlyonce.actuate.ExactlyOnceEndpoint;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** The pages for operators have all required parts, and name only existing things. Other tests run their commands. */
class OperatorPagesTests {

    private static final String NOTICE = "**How you notice.**";
    private static final String RUN = "**What to run.**";
    private static final String MUST_NOT = "**You must not**";

    private static final Pattern BLOCK = Pattern.compile("(?ms)^ *```.*?^ *```$");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| \\[([^\\]]+)\\]\\(#[^)]+\\) \\|");
    private static final Pattern ALERT = Pattern.compile("`(ExactlyOnce[A-Z]\\w+)`");
    private static final Pattern DEFINED_ALERT = Pattern.compile("- alert: (\\w+)");
    private static final Pattern METER = Pattern.compile("`(exactly_once_(?!claim`)\\w+)");
    private static final Pattern LABEL = Pattern.compile("`exactly_once_\\w+\\{(\\w+)=");
    private static final Pattern PROPERTY =
            Pattern.compile("\\b((?:exactly-once|management\\.endpoint)\\.[a-z.-]*[a-z])\\b");
    private static final Pattern ACTUATOR = Pattern.compile("/actuator/(\\w+)");
    private static final Pattern ERROR = Pattern.compile("(?m)^\\| (?!Message \\|)([^|]+?) \\|");

    private static String page(String name) throws IOException {
        return Files.readString(Path.of("../docs", name));
    }

    private static Set<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> found.group(1)).collect(Collectors.toSet());
    }

    @Test
    void eachRunbookHasItsThreePartsInOrder() throws IOException {
        String page = page("runbooks.md");
        String[] sections = page.split("(?m)^## ");
        List<String> headings = Stream.of(sections)
                .skip(1)
                .map(section -> section.lines().findFirst().orElseThrow())
                .toList();

        assertThat(sections).hasSize(8);
        assertThat(Stream.of(sections).skip(1))
                .allSatisfy(runbook -> assertThat(runbook)
                        .containsSubsequence("\n\n" + NOTICE + " ", "\n\n" + RUN + "\n\n1. ", "\n\n" + MUST_NOT + " ")
                        .containsOnlyOnce(NOTICE)
                        .containsOnlyOnce(RUN)
                        .containsOnlyOnce(MUST_NOT));
        assertThat(ROW.matcher(page).results().map(row -> row.group(1))).containsExactlyElementsOf(headings);
    }

    @ParameterizedTest
    @ValueSource(strings = {"runbooks.md", "operating.md"})
    void namesThatThePageHasExist(String name) throws IOException {
        String page = page(name);
        String prose = BLOCK.matcher(page).replaceAll("");
        MetersTable meters = MetricsPageTests.all();

        assertThat(all(DEFINED_ALERT, page("observability/alerts.yml")))
                .containsAll(all(ALERT, prose).stream()
                        .filter(alert -> !prose.contains("[`%s`](run-once.md)".formatted(alert)))
                        .toList());
        assertThat(all(ALERT, prose).stream().filter(alert -> prose.contains("[`%s`](monitoring.md".formatted(alert))))
                .allSatisfy(alert -> assertThat(prose)
                        .contains("[`%s`](monitoring.md#%s)".formatted(alert, alert.toLowerCase(Locale.ROOT))));
        assertThat(meters.rows().keySet()).containsAll(all(METER, prose));
        assertThat(meters.rows().values().stream().flatMap(row -> row.labels().stream()))
                .containsAll(all(LABEL, prose));
        assertThat(PropertyMetadata.names())
                .containsAll(all(PROPERTY, page).stream()
                        .map(ConfigurationPropertyName::of)
                        .toList());
        assertThat(List.of(id(ExactlyOnceEndpoint.class), id(ExactlyOnceConsoleEndpoint.class)))
                .containsAll(all(ACTUATOR, page));
    }

    @Test
    void namesAreFound() throws IOException {
        assertThat(all(ALERT, page("runbooks.md"))).hasSizeGreaterThan(3);
        assertThat(all(METER, page("runbooks.md"))).contains("exactly_once_claims_total");
        assertThat(all(LABEL, page("runbooks.md"))).containsExactly("outcome");
        assertThat(all(PROPERTY, page("runbooks.md"))).contains("exactly-once.claim.table-name");
        assertThat(all(PROPERTY, page("operating.md"))).contains("management.endpoint.exactlyonce.show-values");
        assertThat(all(ACTUATOR, page("operating.md"))).containsExactly("exactlyonceconsole");
    }

    private static String id(Class<?> endpoint) {
        WebEndpoint web = AnnotatedElementUtils.findMergedAnnotation(endpoint, WebEndpoint.class);
        return web != null
                ? web.id()
                : Objects.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(endpoint, Endpoint.class))
                        .id();
    }

    /** The page of errors has every text that the console shows. */
    @Test
    void errorsOfTheConsoleAreExplained() throws IOException {
        String table = page("operating.md").split("## If the page shows an error")[1];
        Set<String> explained = all(ERROR, table);
        String console = console();
        Set<String> statuses = all(Pattern.compile("\\((\\d{3})\\)"), table);

        assertThat(explained)
                .hasSizeGreaterThan(4)
                .allSatisfy(message ->
                        assertThat(console).contains(message.replace("... ", "").replaceAll("\\.$", "")));
        assertThat(statuses)
                .containsExactlyInAnyOrderElementsOf(all(Pattern.compile("case (\\d{3}): return"), console));
    }

    private static String console() throws IOException {
        try (InputStream resource = ExactlyOnceConsoleEndpoint.class.getResourceAsStream("console.html")) {
            return new String(Objects.requireNonNull(resource).readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
