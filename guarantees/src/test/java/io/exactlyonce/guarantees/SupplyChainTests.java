package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The build accepts downloaded programs by their hashes only. */
class SupplyChainTests {

    private static final Path ROOT = Path.of("..");
    private static final Path CI = ROOT.resolve(".ci");
    private static final Pattern PINNED = Pattern.compile("[\\w.\\[\\],-]+==\\S+( ;.*)?( --hash=sha256:[0-9a-f]{64})+");

    static Stream<Path> requirements() throws IOException {
        try (Stream<Path> files = Files.walk(CI)) {
            return files
                    .filter(file -> file.toString().endsWith(".txt") && !file.endsWith("dependencies.txt"))
                    .toList()
                    .stream();
        }
    }

    @Test
    void wrapperNamesTheHashOfItsDistribution() throws IOException {
        Properties wrapper = new Properties();
        try (Reader file = Files.newBufferedReader(ROOT.resolve(".mvn/wrapper/maven-wrapper.properties"))) {
            wrapper.load(file);
        }

        assertThat(wrapper.getProperty("distributionUrl")).startsWith("https://");
        assertThat(wrapper.getProperty("distributionSha256Sum")).matches("[0-9a-f]{64}");
    }

    @Test
    void allRequirementsAreRead() throws IOException {
        assertThat(requirements().map(file -> file.getFileName().toString()))
                .containsExactlyInAnyOrder("site.txt", "moto.txt", "localstack.txt", "jdk-21.txt");
    }

    @ParameterizedTest
    @MethodSource("requirements")
    void everyPythonPackageHasItsVersionAndHashes(Path file) throws IOException {
        List<String> packages = Files.readString(file)
                .replace("\\\n", " ")
                .lines()
                .filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(line -> line.replaceAll("\\s+", " ").strip())
                .toList();

        assertThat(packages).isNotEmpty().allMatch(PINNED.asMatchPredicate());
    }

    @ParameterizedTest
    @ValueSource(strings = {"site", "servers/run"})
    void pythonPackagesAreInstalledByTheirHashesOnly(String script) throws IOException {
        assertThat(Files.readString(CI.resolve(script)).replace("\\\n", " ").lines())
                .filteredOn(line -> line.contains("pip\" install"))
                .isNotEmpty()
                .allMatch(line -> line.contains("--require-hashes"));
    }
}
