package io.exactlyonce.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.exactlyonce.GeneratedPage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every promise, non-promise and failure of the documentation, and every statement of {@code SECURITY.md}, has a row
 * in {@code evidence.txt} with tests that exist.
 */
class EvidencePageTests {

    private static final Path ROOT = Path.of("..");
    private static final Path DOCS = ROOT.resolve("docs");
    private static final Path CONTRIBUTING = DOCS.resolve("contributing");
    private static final Path EVIDENCE = Path.of("src/test/resources/evidence.txt");

    private static final Path SECURITY = ROOT.resolve("SECURITY.md");

    private static final Pattern HEADING = Pattern.compile("#{1,3} (.+)");
    private static final Pattern ROW = Pattern.compile("\\| ([PNDF]\\d+) \\| (.+?) \\|(?: (.*?) ?\\|)?");

    /** A row of {@code SECURITY.md} has as many columns as its table. The first column has no name. */
    private static final Pattern SECURITY_ROW = Pattern.compile("\\| (S\\d+) \\| (.+) \\|");

    private static final Pattern COLUMNS = Pattern.compile("\\| \\| (.+) \\|");

    /**
     * The sections of {@code SECURITY.md} whose sentences say who is trusted, or what a user should do. All other
     * sections consist of rows.
     */
    private static final Set<String> ADVICE = Set.of("Security", "Threat model", "What to do", "Verify a build");

    private static final Map<String, List<Evidence>> EVIDENCE_OF = new LinkedHashMap<>();
    private static final Map<String, Row> ROWS = new LinkedHashMap<>();
    private static CitedTests tests;

    /** A row of the documentation, and the heading above it. */
    private record Row(String heading, String text) {}

    @BeforeAll
    static void read() throws IOException {
        tests = new CitedTests(ROOT);
        EVIDENCE_OF.clear();
        ROWS.clear();
        for (String page : List.of("guarantees.md", "failures.md")) {
            readRows(DOCS.resolve(page));
        }
        readSecurity();
        for (String line : Files.readAllLines(EVIDENCE)) {
            if (!line.isBlank() && !line.startsWith("#")) {
                Evidence evidence = Evidence.parse(line);
                EVIDENCE_OF
                        .computeIfAbsent(evidence.id(), none -> new ArrayList<>())
                        .add(evidence);
            }
        }
    }

    /** Reads both columns of a failure: when it happens, and the result. */
    private static void readRows(Path page) throws IOException {
        String heading = "";
        for (String line : Files.readAllLines(page)) {
            Matcher section = HEADING.matcher(line);
            Matcher row = ROW.matcher(line);
            if (section.matches()) {
                heading = section.group(1);
            } else if (row.matches()) {
                String id = row.group(1);
                String text = row.group(2) + (id.startsWith("F") ? ": " + row.group(3) : "");
                assertThat(ROWS.put(id, new Row(heading, text)))
                        .as(id + " is there twice")
                        .isNull();
            }
        }
    }

    /** Reads a table with several columns. Each cell is preceded by the name of its column. */
    private static void readSecurity() throws IOException {
        String heading = "";
        List<String> columns = List.of();
        for (String line : withoutCode(Files.readAllLines(SECURITY))) {
            Matcher section = HEADING.matcher(line);
            Matcher header = COLUMNS.matcher(line);
            Matcher row = SECURITY_ROW.matcher(line);
            if (section.matches()) {
                heading = "Security: " + section.group(1);
            } else if (header.matches()) {
                columns = List.of(header.group(1).split(" \\| "));
            } else if (row.matches()) {
                List<String> cells = List.of(row.group(2).split(" \\| "));
                assertThat(cells).as(line).hasSameSizeAs(columns);
                StringBuilder text = new StringBuilder(columns.size() == 1 ? cells.get(0) : "");
                for (int column = 0; columns.size() > 1 && column < columns.size(); column++) {
                    text.append("%s: %s. ".formatted(columns.get(column), cells.get(column)));
                }
                assertThat(ROWS.put(
                                row.group(1),
                                new Row(heading, fromDocs(text.toString().strip()))))
                        .as(row.group(1) + " is there twice")
                        .isNull();
            }
        }
    }

    /** Resolves links of {@code SECURITY.md} as if the file were a page of the documentation. */
    private static String fromDocs(String text) {
        return text.replace("](#", "](SECURITY.md#")
                .replaceAll("\\]\\((?!https?:)", "](../")
                .replace("](../docs/", "](");
    }

    private static List<String> withoutCode(List<String> lines) {
        List<String> prose = new ArrayList<>();
        boolean code = false;
        for (String line : lines) {
            if (line.strip().startsWith("```")) {
                code = !code;
            } else if (!code) {
                prose.add(line);
            }
        }
        return prose;
    }

    @Test
    void pageHasTheSentenceOfEachAndWhatShowsIt() {
        StringBuilder page = new StringBuilder("""
                # Evidence: what shows each promise

                The sentences are those of [guarantees](../guarantees.md), [failures](../failures.md) and [security](../../SECURITY.md).
                This page is generated from them and from `integration-tests/src/test/resources/evidence.txt`.
                Write it with `./mvnw test -Dpages.write -Dtest='*PageTests' -Dsurefire.failIfNoSpecifiedTests=false`.

                The build fails if a promise has no test, or if a test does not exist, did not run in this build, or did not pass.
                `GuaranteesShownIT` checks that after all modules (`ShownGuaranteesTests#testThatDidNotRunIsNoticed`), unless tests were chosen.
                Tests with the tag `ci` run only in `./mvnw verify -Pci`, as in continuous integration; other builds print how many they leave out.
                *Contract* tests run against PostgreSQL 18 (with `-Pci` also 14), DynamoDB Local, and the store in memory.
                Tests with PgBouncer or Pgpool-II need those programs; where they are missing the build prints which promises it has not shown.
                A row that is *not shown* says what the code is meant to do.
                Scripts of `.ci` are stages of `.ci/run`, and not part of `./mvnw verify`.
                """);
        String heading = "";
        for (Map.Entry<String, Row> entry : ROWS.entrySet()) {
            Row row = entry.getValue();
            if (!row.heading().equals(heading)) {
                heading = row.heading();
                page.append("\n## %s\n".formatted(heading));
            }
            page.append("\n**%s** %s\n\n".formatted(entry.getKey(), prose(row.text())));
            EVIDENCE_OF.getOrDefault(entry.getKey(), List.of()).forEach(evidence -> page.append(evidence.markdown()));
        }

        GeneratedPage.matches(CONTRIBUTING.resolve("evidence.md"), page.toString());
    }

    /** Puts each clause on its own line. Links start from a folder one level down. */
    private static String prose(String sentences) {
        return sentences.replaceAll("(?<=[.:;]|\\.\\*\\*|\\*\\*:) ", "\n").replaceAll("\\]\\((?!https?:)", "](../");
    }

    @Test
    void evidenceIsOfRowsThatAreThere() {
        assertThat(ROWS.keySet()).containsAll(EVIDENCE_OF.keySet());
        EVIDENCE_OF.values().forEach(evidence -> assertThat(evidence).doesNotHaveDuplicates());
    }

    @ParameterizedTest
    @ValueSource(strings = {"P", "N", "D", "F", "S"})
    void rowsAreNumberedInTheirOrder(String kind) {
        List<String> ids = ids(kind);

        for (int number = 1; number <= ids.size(); number++) {
            assertThat(ids.get(number - 1)).isEqualTo(kind + number);
        }
    }

    @Test
    void everyPromiseHasATest() {
        assertThat(ids("P")).hasSizeGreaterThan(10);
        assertThat(ids("D")).hasSizeGreaterThan(5);
        assertThat(Stream.concat(ids("P").stream(), ids("D").stream()))
                .allSatisfy(id -> assertThat(EVIDENCE_OF.getOrDefault(id, List.of()))
                        .as("evidence of " + id)
                        .anyMatch(Evidence::isTest));
    }

    @Test
    void everyStatementOnSecurityHasATestOrAStageOfContinuousIntegration() {
        assertThat(ids("S"))
                .hasSizeGreaterThan(30)
                .allSatisfy(id -> assertThat(EVIDENCE_OF.getOrDefault(id, List.of()))
                        .as("evidence of " + id)
                        .isNotEmpty()
                        .allMatch(evidence -> evidence.isTest() || evidence.isStage()));
    }

    /** Every sentence must be a row, because sentences outside of rows would have no evidence. */
    @Test
    void statementsOnSecurityAreRowsWithAnId() throws IOException {
        String heading = "";
        for (String line : withoutCode(Files.readAllLines(SECURITY))) {
            Matcher section = HEADING.matcher(line);
            if (section.matches()) {
                heading = section.group(1);
            } else if (line.startsWith("|") && !line.startsWith("|---")) {
                assertThat(line).matches("%s|%s".formatted(COLUMNS, SECURITY_ROW));
            } else if (!line.startsWith("|") && !line.isBlank()) {
                assertThat(ADVICE).as(line).contains(heading);
            }
        }
    }

    @Test
    void stagesThatShowSomethingArePartOfContinuousIntegration() throws IOException {
        String run = Files.readString(ROOT.resolve(".ci/run"));

        assertThat(EVIDENCE_OF.values().stream().flatMap(List::stream).filter(Evidence::isStage))
                .isNotEmpty()
                .allSatisfy(stage -> assertThat(run).containsPattern("stage .* " + Pattern.quote(stage.shown())));
    }

    @Test
    void everythingThatIsNotPromisedAndEveryFailureHasATestOrStatesThatThereIsNone() {
        assertThat(ids("N")).hasSizeGreaterThan(5);
        assertThat(ids("F")).hasSizeGreaterThan(20);
        assertThat(EVIDENCE_OF.keySet()).containsAll(ROWS.keySet());
    }

    @Test
    void testsThatShowSomethingExist() {
        assertThat(EVIDENCE_OF.values().stream()
                        .flatMap(List::stream)
                        .filter(Evidence::isTest)
                        .map(Evidence::shown)
                        .distinct())
                .hasSizeGreaterThan(50)
                .allMatch(tests::exist);
        assertThat(tests.exist("EvidencePageTests#testThatIsNotThere")).isFalse();
        assertThat(tests.exist("NoSuchTests#testsThatShowSomethingExist")).isFalse();
    }

    static List<Path> contributorPages() throws IOException {
        try (Stream<Path> pages = Files.walk(CONTRIBUTING)) {
            return pages.filter(page -> page.toString().endsWith(".md")).toList();
        }
    }

    @ParameterizedTest
    @MethodSource("contributorPages")
    void testsThatContributorPagesNameExist(Path page) throws IOException {
        assertThat(CitedTests.in(Files.readString(page))).allMatch(tests::exist);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"P1", "P1 `FooTests#bar`", "P1 shown", "X1 FooTests#bar", "P1 FooTests#bar remark", "S1 site"})
    void lineThatDiffersIsRefused(String line) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Evidence.parse(line))
                .withMessageContaining(line);
    }

    private static List<String> ids(String kind) {
        return ROWS.keySet().stream().filter(id -> id.startsWith(kind)).toList();
    }
}
