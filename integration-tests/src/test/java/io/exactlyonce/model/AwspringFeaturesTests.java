package io.exactlyonce.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code docs/awspring-features.md} says of each feature what becomes of it, and names what shows that. */
class AwspringFeaturesTests {

    private static final Path ROOT = Path.of("..");
    private static final int COLUMNS = 4;

    private static String read(String document) throws IOException {
        return Files.readString(ROOT.resolve("docs").resolve(document));
    }

    @ParameterizedTest
    @ValueSource(strings = {"awspring-features.md", "migration.md"})
    void testsThatAreNamedExist(String document) throws IOException {
        CitedTests tests = new CitedTests(ROOT);

        assertThat(CitedTests.in(read(document))).isNotEmpty().allMatch(tests::exist);
    }

    @Test
    void everyFeatureHasAVerdictAndATestOrSaysThatThereIsNone() throws IOException {
        List<String> rows = read("awspring-features.md")
                .lines()
                .filter(line -> line.startsWith("| ") && !line.startsWith("| Feature"))
                .toList();

        assertThat(rows).hasSizeGreaterThan(50).allSatisfy(row -> {
            // Before the first bar and behind the last one there is nothing.
            String[] columns = row.split("\\|", -1);
            assertThat(columns).hasSize(COLUMNS + 2);
            String shown = columns[COLUMNS].strip();
            assertThat(columns[2].strip()).isIn("works", "works differently", "overridden", "refused", "not tried");
            assertThat(shown.equals("not shown") || !CitedTests.in(shown).isEmpty())
                    .isTrue();
        });
    }
}
