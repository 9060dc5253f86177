package io.exactlyonce.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code docs/guarantees.md} names what shows its promises, and what it names is there. */
class GuaranteesTests {

    private static final Path ROOT = Path.of("..");

    private String document = "";

    @BeforeEach
    void read() throws IOException {
        document = Files.readString(ROOT.resolve("docs").resolve("guarantees.md"));
    }

    @Test
    void testsThatAreNamedExist() throws IOException {
        CitedTests tests = new CitedTests(ROOT);

        assertThat(CitedTests.in(document)).hasSizeGreaterThan(50).allMatch(tests::exist);
        assertThat(tests.exist("GuaranteesTests#testThatIsNotThere")).isFalse();
        assertThat(tests.exist("NoSuchTests#testsThatAreNamedExist")).isFalse();
    }

    /** Rows of tables begin with their number. */
    @Test
    void everyPromiseNamesATest() {
        List<String> promises = rows("| P");

        assertThat(promises)
                .hasSizeGreaterThan(10)
                .allSatisfy(promise -> assertThat(CitedTests.in(promise)).isNotEmpty());
        for (int number = 1; number <= promises.size(); number++) {
            assertThat(promises.get(number - 1)).startsWith("| P" + number + " |");
        }
    }

    @Test
    void everythingThatIsNotPromisedNamesATestOrSaysThatThereIsNone() {
        assertThat(rows("| N")).hasSizeGreaterThan(5).allSatisfy(GuaranteesTests::assertShownOrNot);
    }

    @Test
    void everyFailureNamesATestOrSaysThatThereIsNone() {
        String failures = document.substring(document.indexOf("## When something fails"));

        assertThat(Arrays.stream(failures.split("\n"))
                        .filter(row -> row.startsWith("| ") && !row.startsWith("| When"))
                        .toList())
                .hasSizeGreaterThan(20)
                .allSatisfy(GuaranteesTests::assertShownOrNot);
    }

    @ParameterizedTest
    @EnumSource
    void everyGuardIsExplained(Guard guard) {
        assertThat(rows("| `" + guard + "` | `" + guard.shortEnforcer() + "` |"))
                .hasSize(1);
    }

    private static void assertShownOrNot(String row) {
        assertThat(row)
                .satisfiesAnyOf(
                        each -> assertThat(CitedTests.in(each)).isNotEmpty(),
                        each -> assertThat(each).contains("[chaos harness](chaos.md)"),
                        each -> assertThat(each).contains("not shown"));
    }

    private List<String> rows(String beginning) {
        return Arrays.stream(document.split("\n"))
                .filter(line -> line.startsWith(beginning))
                .toList();
    }
}
