package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Asserts that certain tests ran in this build and passed: those that are named in {@code
 * docs/contributing/evidence.md} and in the other documents of {@link ShownGuarantees}. Tests with a tag that this
 * build excludes are left out ({@code -Pci} runs them). The check runs after all modules, but not if tests were chosen
 * or skipped ({@code -Dtest}, {@code -Dit.test}, {@code -DskipTests}, {@code -Pchaos}).
 */
class GuaranteesShownIT {

    @Test
    void everyTestThatIsNamedRanAndPassedInThisBuild() throws IOException {
        Instant started = Instant.parse(System.getProperty("build.started"));
        Set<String> excluded = Set.of(System.getProperty("tests.excluded").split(","));
        ShownGuarantees guarantees = new ShownGuarantees(Path.of(".."), started, excluded);

        // Prints the tests that cannot run on this machine, so that a reader sees their absence.
        guarantees.skipped().forEach(skipped -> System.out.println("Not shown by this build: " + skipped));
        if (guarantees.leftOut() > 0) {
            System.out.printf("Left to ./mvnw verify -Pci: %d of %d tests%n", guarantees.leftOut(), guarantees.count());
        }
        assertThat(guarantees.count()).isGreaterThan(50);
        assertThat(guarantees.notShown())
                .as(
                        "named by docs/contributing/evidence.md or its like, but failed or not run since %s; run all modules together (./mvnw"
                                + " verify), or pass -Dguarantees.skip",
                        started)
                .isEmpty();
    }
}
