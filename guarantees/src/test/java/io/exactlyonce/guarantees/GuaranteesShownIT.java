package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/**
 * Every test that {@code docs/guarantees.md} and the other documents of {@link ShownGuarantees} name ran and passed in this build. Runs after all modules, and not where tests
 * were chosen or skipped ({@code -Dtest}, {@code -Dit.test}, {@code -DskipTests}, {@code -Pchaos}).
 */
class GuaranteesShownIT {

    @Test
    void everyTestThatIsNamedRanAndPassedInThisBuild() throws IOException {
        Instant started = Instant.parse(System.getProperty("build.started"));
        ShownGuarantees guarantees = new ShownGuarantees(Path.of(".."), started);

        // What cannot run on this machine is told, so that its absence is seen.
        guarantees.skipped().forEach(skipped -> System.out.println("Not shown by this build: " + skipped));
        assertThat(guarantees.count()).isGreaterThan(50);
        assertThat(guarantees.notShown())
                .as(
                        "named by docs/guarantees.md or its like, but failed or not run since %s; run all modules together (./mvnw"
                                + " verify), or pass -Dguarantees.skip",
                        started)
                .isEmpty();
    }
}
