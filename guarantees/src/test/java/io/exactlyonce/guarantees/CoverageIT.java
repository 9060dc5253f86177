package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks the branch coverage of each package of the engine, together with its subpackages, because one branch is a
 * large share of a small package.
 */
class CoverageIT {

    private static final Path MEASURED =
            Path.of("..", "integration-tests", "target", "site", "jacoco-aggregate", "jacoco.csv");
    private static final double LEAST = 0.90;
    private static final int PACKAGE = 1;
    private static final int BRANCHES_MISSED = 5;
    private static final int BRANCHES_TAKEN = 6;

    @ParameterizedTest
    @ValueSource(strings = {"claim", "delivery|operations", "listener", "primary", "queue|renewal"})
    void testsTakeNineOfTenBranchesOfEachPackage(String names) throws IOException {
        assumeFalse(List.of(System.getProperty("tests.excluded").split(",")).contains("ci"), "measured with -Pci only");
        assertThat(Files.getLastModifiedTime(MEASURED).toInstant())
                .as("%s is of this build", MEASURED)
                .isAfterOrEqualTo(Instant.parse(System.getProperty("build.started")));
        Pattern packages = Pattern.compile("io\\.exactlyonce\\.(%s)(\\..*)?".formatted(names));
        List<String[]> classes = Files.readAllLines(MEASURED).stream()
                .map(line -> line.split(","))
                .filter(columns -> packages.matcher(columns[PACKAGE]).matches())
                .toList();

        double taken = sum(classes, BRANCHES_TAKEN);
        assertThat(taken / (taken + sum(classes, BRANCHES_MISSED)))
                .as("branches that tests take, of all in %s", names)
                .isGreaterThanOrEqualTo(LEAST);
    }

    private static int sum(List<String[]> classes, int column) {
        return classes.stream()
                .mapToInt(columns -> Integer.parseInt(columns[column]))
                .sum();
    }
}
