package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@link ShownGuarantees}, on builds of two classes and a contract. */
class ShownGuaranteesTests {

    private static final Instant STARTED = Instant.parse("2026-11-22T00:00:00Z");

    @TempDir
    private Path root;

    @BeforeEach
    void write() throws IOException {
        write("docs/contributing/evidence.md", "**P1**\n\n- `ClaimTests#oneHolds`");
        write("docs/contributing/model.md", "`ClaimTests#oneHolds`");
        write("docs/contributing/architecture.md", "`ClaimTests#oneHolds`");
        write("docs/contributing/evidence-spring-cloud-aws.md", "`ClaimTests#oneHolds`");
        write("docs/contributing/evidence-adopting.md", "`ClaimTests#oneHolds`");
        write(
                "docs/contributing/evidence-stores.md",
                "`StoreContract#staleClaimChangesNothing`, `ClaimTests#oneHolds`");
        write("docs/contributing/evidence-compatibility.md", "`ClaimTests#oneHolds`");
        write("engine/src/main/java/ClaimTests.java", "class ClaimTests {\n    void oneHolds() {}\n}");
        write(
                "engine/src/main/java/StoreContract.java",
                "interface StoreContract extends Named<Store> { default void staleClaimChangesNothing() {} }");
        write(
                "engine/src/test/java/AllContracts.java",
                "abstract class AllContracts<T> implements A, StoreContract {}");
        write("test/src/test/java/PostgresIT.java", "class PostgresIT\n        extends AllContracts<Row> {\n}");
        report("engine", "surefire-reports", "io.x.ClaimTests", "oneHolds", "");
        report("test", "failsafe-reports", "io.x.PostgresIT", "staleClaimChangesNothing", "");
    }

    @Test
    void testsThatPassedAreShownAlsoThroughASubclassOfTheirContract() throws IOException {
        ShownGuarantees guarantees = read();

        assertThat(guarantees.count()).isEqualTo(2);
        assertThat(guarantees.notShown()).isEmpty();
        assertThat(guarantees.skipped()).isEmpty();
    }

    @Test
    void testThatDidNotRunIsNoticed() throws IOException {
        report("test", "failsafe-reports", "io.x.PostgresIT", "staleClaimChangesNothingElse", "");

        assertThat(read().notShown())
                .containsExactly("StoreContract#staleClaimChangesNothing MISSING: no report of this build names it");
    }

    @Test
    void testWhoseTagIsExcludedIsCountedAsLeftOut() throws IOException {
        tagAndForget("ci");

        assertThat(read().leftOut()).isEqualTo(1);
        assertThat(read().notShown()).isEmpty();
    }

    @Test
    void testWhoseTagIsNotExcludedIsOwed() throws IOException {
        tagAndForget("postgres");

        assertThat(read().leftOut()).isZero();
        assertThat(read().notShown()).singleElement().asString().startsWith("ClaimTests#oneHolds MISSING");
    }

    @Test
    void testThatFailedIsNoticedAlthoughItsTagIsExcluded() throws IOException {
        tagAndForget("ci");
        report("engine", "surefire-reports", "io.x.ClaimTests", "oneHolds", "<failure message='two do'/>");

        assertThat(read().notShown()).containsExactly("ClaimTests#oneHolds FAILED: two do");
    }

    @Test
    void testOfAClassWithoutTheContractDoesNotCount() throws IOException {
        report("test", "failsafe-reports", "io.x.PostgresIT", "other", "");
        report("engine", "failsafe-reports", "io.x.OtherIT", "staleClaimChangesNothing", "");

        assertThat(read().notShown()).singleElement().asString().contains("MISSING");
    }

    @Test
    void testThatFailedIsNoticedAlthoughItPassedElsewhere() throws IOException {
        report(
                "test",
                "oldest-postgres-reports",
                "io.x.PostgresIT",
                "staleClaimChangesNothing",
                "<failure message='it did'/>");

        assertThat(read().notShown()).containsExactly("StoreContract#staleClaimChangesNothing FAILED: it did");
    }

    @Test
    void testThatEndedInAnErrorIsNoticed() throws IOException {
        report("engine", "surefire-reports", "io.x.ClaimTests", "oneHolds(Mode)[2]", "<error message='no table'/>");

        assertThat(read().notShown()).containsExactly("ClaimTests#oneHolds FAILED: no table");
    }

    @Test
    void reportOfAnEarlierBuildDoesNotCount() throws IOException {
        Path old = report("engine", "surefire-reports", "io.x.ClaimTests", "oneHolds", "");
        Files.setLastModifiedTime(old, FileTime.from(STARTED.minus(Duration.ofHours(1))));

        assertThat(read().notShown()).singleElement().asString().startsWith("ClaimTests#oneHolds MISSING");
    }

    @Test
    void testThatWasSkippedIsReportedWithItsReason() throws IOException {
        report("engine", "surefire-reports", "io.x.ClaimTests", "oneHolds", "<skipped message='no PgBouncer'/>");

        assertThat(read().notShown()).isEmpty();
        assertThat(read().skipped()).containsExactly("ClaimTests#oneHolds SKIPPED: no PgBouncer");
    }

    @Test
    void testWhoseAssumptionDoesNotHoldIsReportedWithIt() throws IOException {
        report(
                "engine",
                "surefire-reports",
                "io.x.ClaimTests",
                "oneHolds",
                "<skipped type='x'>Assumption failed: no Docker\n  at io.x</skipped>");

        assertThat(read().skipped()).containsExactly("ClaimTests#oneHolds SKIPPED: Assumption failed: no Docker");
    }

    @Test
    void testOfAClassThatCouldNotBeginIsNoticed() throws IOException {
        report(
                "test",
                "oldest-postgres-reports",
                "io.x.PostgresIT",
                "initializationError",
                "<error message='no server'/>");

        assertThat(read().notShown()).containsExactly("StoreContract#staleClaimChangesNothing FAILED: no server");
    }

    @Test
    void testThatWasSkippedOnOneServerAndPassedOnAnotherIsShown() throws IOException {
        report("engine", "localstack-reports", "io.x.ClaimTests", "oneHolds", "<skipped message='no Docker'/>");

        assertThat(read().skipped()).isEmpty();
        assertThat(read().notShown()).isEmpty();
    }

    @Test
    void testWithParametersOrInANestedClassIsFound() throws IOException {
        report("engine", "surefire-reports", "io.x.ClaimTests$Held", "oneHolds(String, int)[1]", "");

        assertThat(read().notShown()).isEmpty();
    }

    private ShownGuarantees read() throws IOException {
        return new ShownGuarantees(root, STARTED, Set.of("ci", "load"));
    }

    /** Gives a class a tag, and removes its report. */
    private void tagAndForget(String tag) throws IOException {
        write(
                "engine/src/main/java/ClaimTests.java",
                "/** Tests. */\n@Tag(\"%s\")\n@Other(1)\nclass ClaimTests {\n    void oneHolds() {}\n}".formatted(tag));
        Files.delete(root.resolve("engine/target/surefire-reports/TEST-io.x.ClaimTests.xml"));
    }

    /** Replaces the report of one class. */
    private Path report(String module, String directory, String type, String method, String end) throws IOException {
        return write(
                "%s/target/%s/TEST-%s.xml".formatted(module, directory, type),
                "<testsuite><testcase name='%s' classname='%s'>%s</testcase></testsuite>".formatted(method, type, end));
    }

    private Path write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
        Files.setLastModifiedTime(path, FileTime.from(STARTED.plusSeconds(1)));
        return path;
    }
}
