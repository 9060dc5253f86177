package io.exactlyonce.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code docs/spring-cloud-aws.md} lists features with their results, and {@code docs/contributing/evidence-spring-cloud-aws.md} has
 * the tests that show them. The tests of other pages are in pages beside it.
 */
class SpringCloudAwsFeaturesTests {

    private static final Path ROOT = Path.of("..");
    private static final String EVIDENCE = "contributing/evidence-spring-cloud-aws.md";

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

    @ParameterizedTest
    @ValueSource(strings = {"spring-cloud-aws", "adopting", "stores", "compatibility"})
    void testsThatAreNamedExist(String page) throws IOException {
        String evidence = read("contributing/evidence-" + page + ".md");
        CitedTests tests = new CitedTests(ROOT);

        assertThat(CitedTests.in(evidence)).isNotEmpty().allMatch(tests::exist);
        assertThat(CitedTests.classesIn(evidence)).allMatch(tests::existClass);
    }

    @Test
    void everyFeatureHasAVerdictAndATestOrStatesThatThereIsNone() throws IOException {
        List<List<String>> features = rows(read("spring-cloud-aws.md"));
        List<List<String>> evidence = rows(read(EVIDENCE));

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
