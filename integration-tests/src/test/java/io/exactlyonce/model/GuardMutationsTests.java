package io.exactlyonce.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the check of PIT's report, on reports that the tests write. Each guard is either SQL or a class that PIT
 * changes.
 */
class GuardMutationsTests {

    private static final Path DOCS = Path.of("..", "docs", "contributing");

    /** The name of a class, which may be nested and followed by a method: {@code `Outer$Nested#method`}. */
    private static final Pattern NAME = Pattern.compile("`(?:\\w+\\$)?([A-Z]\\w*[a-z]\\w*)(?:#(\\w+))?`");

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource
    void guardIsSqlThatIsRemovedOrAClassOfTheMutationProfile(Guard guard) throws IOException {
        String profile = Files.readString(Path.of("..", "core", "pom.xml"))
                + Files.readString(Path.of("..", "postgres", "pom.xml"));
        String type = guard.enforcer().split("#", 2)[0];

        assertThat(profile.contains("<param>%s</param>".formatted(type)))
                .isEqualTo(GuardMutations.ofJava().contains(guard));
    }

    /** If a class or a method was renamed or removed, the pages must not list it as a survivor. */
    @ParameterizedTest
    @ValueSource(strings = {"decisions/0005-mutation-testing.md", "mutation-survivors.md"})
    void pageNamesOnlyClassesAndMethodsThatThereAre(String page) throws IOException {
        String text = Files.readString(DOCS.resolve(page));
        String code = code();

        assertThat(NAME.matcher(text).results())
                .isNotEmpty()
                .allMatch(name -> Stream.of(" ", "(").anyMatch(end -> code.contains(" " + name.group(1) + end)))
                .filteredOn(name -> name.group(2) != null)
                .allMatch(name -> code.contains(" " + name.group(2) + "("));
    }

    /** Returns all Java code of all modules. */
    private static String code() throws IOException {
        StringBuilder code = new StringBuilder();
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            for (Path module : modules.map(module -> module.resolve("src"))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> files = Files.walk(module)) {
                    for (Path file : files.filter(each -> each.toString().endsWith(".java"))
                            .toList()) {
                        code.append(Files.readString(file));
                    }
                }
            }
        }
        return code.toString();
    }

    /** A crashed run proves nothing. JDK 17 crashes if one process changes some records twice. */
    @ParameterizedTest
    @CsvSource({
        "KILLED, removed call, false",
        "SURVIVED, negated conditional, true",
        "SURVIVED, a change that the document lists, false",
        "RUN_ERROR, negated conditional, true"
    })
    void changeThatNoTestFoundIsNoticedUnlessItIsListed(String status, String what, boolean isNoticed)
            throws IOException {
        String found = GuardMutations.ofJava().stream()
                .map(Guard::enforcer)
                .map(method -> change(method, "KILLED", "removed call"))
                .collect(Collectors.joining());
        String one = change(Guard.ENSURE_HELD_ASKS_THE_CLOCK.enforcer(), status, what);
        Path report = report("<mutations>" + found + one + "</mutations>");
        String complaint = "ENSURE_HELD_ASKS_THE_CLOCK: not listed: | `Renewable#isOn` | %s | %s";

        assertThat(new GuardMutations(report)
                        .complaints("| `Renewable#isOn` | a change that the document lists | equivalent |"))
                .isEqualTo(isNoticed ? Set.of(complaint.formatted(what, status)) : Set.of());
    }

    @Test
    void buildFailsWhereSomethingIsWrong() throws IOException {
        String report = report("<mutations/>").toString();

        assertThatIllegalStateException()
                .isThrownBy(() -> GuardMutations.main(new String[] {report, "pom.xml"}))
                .withMessageContaining("FREE_KEY_ENDS_THE_WAIT: no change of");
    }

    private static String change(String method, String status, String what) {
        String[] names = method.split("#", 2);
        return "<mutation status='%s'><mutatedClass>%s</mutatedClass><mutatedMethod>lambda$%s$0</mutatedMethod><description>%s</description></mutation>"
                .formatted(status, names[0], names[1], what);
    }

    private Path report(String xml) throws IOException {
        return Files.writeString(directory.resolve("mutations.xml"), xml);
    }
}
