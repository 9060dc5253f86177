package io.exactlyonce.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.testing.DocumentedCode.Block;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each command on the pages for operators is run, word for word, by a test or by {@code .ci/newcomer/run}. */
class DocumentedCommandsTests {

    private static final String PROGRAMS = "psql|curl|aws";

    private static final List<String> RUNBOOKS = List.of("runbooks.md", "operating.md");

    /** Languages of blocks that are no commands. */
    private static final Set<String> SHOWN = Set.of("java", "json", "text", "xml", "hcl");

    /** The language of blocks that the page marks as not tried. */
    private static final String NOT_TRIED = "powershell";

    /** Blocks of a page that are the same as blocks of another page. */
    private static final String AS_IN_README = "first-listener.md";

    private static List<String> tests;
    private static String script;

    @BeforeAll
    static void readTests() throws IOException {
        script = Files.readString(Path.of("../.ci/newcomer/run"));
        try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
            tests = files.filter(file -> file.toString().endsWith(".java"))
                    .map(DocumentedCommandsTests::read)
                    .toList();
        }
    }

    static Stream<String> pages() throws IOException {
        try (Stream<Path> pages = Files.list(Path.of("../docs"))) {
            return Stream.concat(
                    Stream.of("../README.md"),
                    pages
                            .map(page -> page.getFileName().toString())
                            .filter(page -> page.endsWith(".md"))
                            .sorted()
                            .toList()
                            .stream());
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void commandsOfThePageAreRun(String page) {
        List<Block> blocks = DocumentedCode.of(page).blocks();

        assertThat(blocks)
                .filteredOn(block ->
                        block.runsOneOf(PROGRAMS) || (RUNBOOKS.contains(page) && !SHOWN.contains(block.language())))
                .allMatch(block -> isRun(page, block), "is run by a test that names it, or by .ci/newcomer/run");
    }

    @Test
    void commandsAreFound() throws IOException {
        assertThat(pages().flatMap(page -> DocumentedCode.of(page).blocks().stream())
                        .filter(block -> block.runsOneOf(PROGRAMS)))
                .hasSizeGreaterThan(10)
                .extracting(Block::language)
                .contains("shell", "console", NOT_TRIED);
        assertThat(DocumentedCode.of("runbooks.md").blocks())
                .hasSize(Files.readString(Path.of("../docs/runbooks.md")).split("```").length / 2);
    }

    private static boolean isRun(String page, Block block) {
        if (block.name() != null) {
            Pattern use = Pattern.compile("\\(\"%s\"[,)]".formatted(Pattern.quote(block.name())));
            return tests.stream()
                    .filter(test -> test.contains("DocumentedCode.of(\"%s\")".formatted(page)))
                    .anyMatch(test -> use.matcher(test).find());
        }
        if (block.language().equals(NOT_TRIED)) {
            return true;
        }
        if (page.equals(AS_IN_README)) {
            return DocumentedCode.of("../README.md").blocks().stream()
                    .anyMatch(readme -> readme.code().equals(block.code()) && isRunByTheScript("README.md", readme));
        }
        return isRunByTheScript(page.equals("../README.md") ? "README.md" : "docs/" + page, block);
    }

    /** The script names a block by its section and its number in the section. */
    private static boolean isRunByTheScript(String page, Block block) {
        List<Block> section = DocumentedCode.of("../" + page).blocks().stream()
                .filter(other -> other.heading().equals(block.heading())
                        && other.language().equals(block.language()))
                .toList();
        String named = "shell %d '%s'".formatted(section.indexOf(block), block.heading());
        return script.lines()
                .anyMatch(line -> line.contains(named)
                        && (page.equals("README.md") ? line.startsWith("block ") : line.contains(page)));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
