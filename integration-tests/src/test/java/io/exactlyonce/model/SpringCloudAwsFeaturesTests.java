package io.exactlyonce.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/spring-cloud-aws.md} lists features with their results, and {@code docs/contributing/page-evidence.md} has the
 * tests that show them.
 */
class SpringCloudAwsFeaturesTests {

    private static final Path ROOT = Path.of("..");
    private static final String EVIDENCE = "contributing/page-evidence.md";

    private static String read(String document) throws IOException {
        return Files.readString(ROOT.resolve("docs").resolve(document));
    }

    /** Returns the cells of a table, row by row, without the header. */
    private static List<List<String>> rows(String text) {
        return text.lines()
                .filter(line -> line.startsWith("| ") && !line.startsWith("| Feature"))
                .map(line -> line.split("\\|", -1))
                // The texts before the first bar and after the last bar are empty.
                .map(cells -> List.of(cells).subList(1, cells.length - 1))
                .map(cells -> cells.stream().map(String::strip).toList())
                .toList();
    }

    @Test
    void testsThatAreNamedExist() throws IOException {
        CitedTests tests = new CitedTests(ROOT);

        assertThat(CitedTests.in(read(EVIDENCE))).isNotEmpty().allMatch(tests::exist);
        assertThat(CitedTests.classesIn(read(EVIDENCE))).isNotEmpty().allMatch(tests::existClass);
    }

    @Test
    void everyFeatureHasAVerdictAndATestOrStatesThatThereIsNone() throws IOException {
        List<List<String>> features = rows(read("spring-cloud-aws.md"));
        List<List<String>> evidence =
                rows(read(EVIDENCE).split("## Spring Cloud AWS features", 2)[1].split("\n## ", 2)[0]);

        assertThat(features).hasSizeGreaterThan(50).allSatisfy(feature -> {
            assertThat(feature).hasSize(3);
            assertThat(feature.get(1)).isIn("works", "works differently", "overridden", "refused", "not tried");
        });
        assertThat(evidence).allSatisfy(shown -> {
            assertThat(shown).hasSize(2);
            assertThat(shown.get(1).equals("not shown")
                            || !CitedTests.in(shown.get(1)).isEmpty())
                    .isTrue();
        });
        assertThat(evidence)
                .extracting(shown -> shown.get(0))
                .isEqualTo(features.stream().map(feature -> feature.get(0)).toList());
    }
}
