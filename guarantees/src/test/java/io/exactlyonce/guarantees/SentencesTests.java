package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Checks the rules of style in {@code CONTRIBUTING.md} that a script can check: in user pages, and in comments of code
 * and tests.
 */
class SentencesTests {

    private static final int LONGEST = 140;

    private static final Pattern LINK_TARGET = Pattern.compile("(?<=\\])\\([^)\\s]+\\)");
    private static final Pattern CODE = Pattern.compile("`[^`]*`");
    private static final Pattern HEADLESS = Pattern.compile("(?:^|[.:!?|*] +)What (?![^.?]*\\?)");
    private static final Pattern MONTH = Pattern.compile(
            "\\b\\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\\b|\\b20\\d\\d-\\d\\d-\\d\\d\\b");
    private static final Pattern RUN = Pattern.compile("(?i)\\bseed[= ]\\d{3}|\\bcommit `?[0-9a-f]{7}|\\bload average");
    private static final Pattern TEST = Pattern.compile("`[A-Z]\\w*[a-z0-9](?:Tests|IT)(?:#\\w+)?`");
    private static final Pattern COMMENT = Pattern.compile("^\\s*(?://|/\\*\\*|\\*) ?(.*)$");

    /** The page that has one date, because its figures come from one run. */
    private static final String MEASURED = "performance.md";

    private static final Pattern FRAGMENT =
            Pattern.compile("^(?:Its?|They|Those|Of|By|Before|Also|For|With|Not|As|Such)\\b");
    private static final Pattern OLD_ORDER = Pattern.compile(
            "\\b(?:an?|no|each|every|another) \\w+ of the application's\\b|\\bof ours\\b|\\bbut for\\b");

    /** A method whose name contains underscores. */
    private static final Pattern UNDERSCORES = Pattern.compile("\\bvoid [a-z]\\w*_\\w*\\(");

    /** @param isFirst whether the line is the first one of a comment */
    record Line(Path page, int number, String text, boolean isFirst) {

        String prose() {
            return CODE.matcher(LINK_TARGET.matcher(text).replaceAll("")).replaceAll("`code`");
        }

        @Override
        public String toString() {
            return "%s:%d %s".formatted(page, number, text);
        }
    }

    static Stream<Path> userPages() throws IOException {
        try (Stream<Path> pages = Files.list(Path.of("../docs"))) {
            return Stream.concat(
                    Stream.of(Path.of("../README.md")),
                    pages.filter(page -> page.toString().endsWith(".md")).sorted().toList().stream());
        }
    }

    /** Returns a page's lines outside of code blocks. */
    private static List<Line> lines(Path page) throws IOException {
        List<Line> lines = new ArrayList<>();
        boolean code = false;
        int number = 0;
        for (String text : Files.readAllLines(page)) {
            number++;
            if (text.strip().startsWith("```")) {
                code = !code;
            } else if (!code && !text.startsWith("#")) {
                lines.add(new Line(page, number, text, false));
            }
        }
        return lines;
    }

    @Test
    void allPagesAreRead() throws IOException {
        assertThat(userPages().map(page -> page.getFileName().toString()))
                .contains("README.md", "guarantees.md", "listener.md", MEASURED)
                .hasSizeGreaterThan(25);
    }

    @ParameterizedTest
    @MethodSource("userPages")
    void proseFitsOnALine(Path page) throws IOException {
        assertThat(lines(page))
                .filteredOn(line -> !line.text().stripLeading().startsWith("|"))
                .filteredOn(
                        line -> LINK_TARGET.matcher(line.text()).replaceAll("").length() > LONGEST)
                .isEmpty();
    }

    @ParameterizedTest
    @MethodSource("userPages")
    void noSentenceBeginsWithWhat(Path page) throws IOException {
        assertThat(lines(page))
                .filteredOn(line -> HEADLESS.matcher(line.prose()).find())
                .isEmpty();
    }

    @ParameterizedTest
    @MethodSource("userPages")
    void pagesHaveNoEvidence(Path page) throws IOException {
        assertThat(lines(page))
                .filteredOn(line -> RUN.matcher(line.text()).find()
                        || TEST.matcher(line.text()).find())
                .isEmpty();
        assertThat(lines(page))
                .filteredOn(line -> MONTH.matcher(line.text()).find())
                .hasSizeLessThanOrEqualTo(page.endsWith(MEASURED) ? 1 : 0);
    }

    @Test
    void noCommentBeginsWithWhat() throws IOException {
        assertThat(comments())
                .filteredOn(comment -> HEADLESS.matcher(comment.text()).find())
                .isEmpty();
    }

    /**
     * A comment begins with its subject or its verb, because a reader does not know yet what a pronoun or a fragment
     * refers to.
     */
    @Test
    void noCommentBeginsWithAPronounOrAPreposition() throws IOException {
        assertThat(comments())
                .filteredOn(Line::isFirst)
                .filteredOn(comment -> FRAGMENT.matcher(comment.text()).find())
                .isEmpty();
    }

    @Test
    void noCommentHasAnOldWordOrder() throws IOException {
        assertThat(comments())
                .filteredOn(comment -> OLD_ORDER.matcher(comment.text()).find())
                .isEmpty();
    }

    @Test
    void namesOfTestsAreSentencesInCamelCase() throws IOException {
        for (Path source : sources()) {
            assertThat(UNDERSCORES.matcher(Files.readString(source)).results().map(MatchResult::group))
                    .as(source.toString())
                    .isEmpty();
        }
    }

    /** Returns the lines of comments in all code, in tests, and in scripts. */
    private static List<Line> comments() throws IOException {
        List<Line> found = new ArrayList<>();
        for (Path source : sources()) {
            found.addAll(comments(source));
        }
        return found;
    }

    private static List<Path> sources() throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            for (Path sources : modules.map(SentencesTests::folder)
                    .filter(Files::isDirectory)
                    .sorted()
                    .toList()) {
                try (Stream<Path> files = Files.walk(sources)) {
                    files.filter(file -> file.toString().endsWith(".java")).forEach(found::add);
                }
            }
        }
        return found;
    }

    private static Path folder(Path module) {
        return module.endsWith(".ci") ? module : module.resolve("src");
    }

    @Test
    void commentsOfAllModulesTestsAndScriptsAreRead() throws IOException {
        assertThat(comments())
                .extracting(line -> line.page().toString())
                .contains(
                        "../chaos/src/main/java/io/exactlyonce/chaos/run/Chaos.java",
                        "../core/src/test/java/io/exactlyonce/delivery/DeliveryRig.java",
                        "../chaos/src/test/java/io/exactlyonce/chaos/history/CheckerTests.java",
                        "../.ci/Links.java");
    }

    private static List<Line> comments(Path source) throws IOException {
        List<Line> found = new ArrayList<>();
        boolean isWithin = false;
        int number = 0;
        for (String text : Files.readAllLines(source)) {
            number++;
            Matcher comment = COMMENT.matcher(text);
            if (comment.matches()) {
                String words = comment.group(1);
                boolean isFirst = !isWithin && !words.isBlank();
                isWithin = text.strip().startsWith("//") || isWithin || isFirst;
                found.add(new Line(source, number, words, isFirst));
            } else {
                isWithin = false;
            }
        }
        return found;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            value = {
                "What acquires nothing is settled.! true",
                "It ends. What follows is settled.! true",
                "* What is said here.! true",
                "What happens after a crash?! false",
                "Decide what happens after a crash.! false"
            })
    void headlessSentencesAreFound(String line, boolean found) {
        assertThat(HEADLESS.matcher(line).find()).isEqualTo(found);
    }
}
