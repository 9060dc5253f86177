package io.exactlyonce.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The code in a document, so that a test runs exactly that code: the block behind a comment {@code <!-- tested: name
 * -->}.
 */
public final class DocumentedCode {

    /** A heading or a block. Headings within a block and blocks within a heading do not count. */
    private static final Pattern PART = Pattern.compile(
            "^#+ (?<heading>[^\\n]*)$|^(?<indent> *)```(?<language>\\w*)$\\R(?<code>.*?)^\\k<indent>```$",
            Pattern.MULTILINE | Pattern.DOTALL);

    private static final Pattern NAME = Pattern.compile("<!-- tested: ([\\w-]+) -->\\s*$");

    private final String document;

    private DocumentedCode(String document) {
        this.document = document;
    }

    /** Returns the code of a document in {@code docs/}. */
    public static DocumentedCode of(String document) {
        try {
            return new DocumentedCode(Files.readString(Path.of("..", "docs", document)));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /**
     * A block of code.
     *
     * @param heading the heading of its section
     * @param language the language that the document states
     * @param name the name of the test, or {@code null}
     * @param code the code without the indentation of a list
     */
    public record Block(
            String heading, String language, @Nullable String name, String code) {

        /** Returns whether a line begins with one of these programs, possibly after a prompt or an assignment. */
        public boolean runsOneOf(String programs) {
            return Pattern.compile("(?m)^(?:\\$ )?(?:\\$?\\w+ ?= ?(?:\\$\\()?)?(?:%s) ".formatted(programs))
                    .matcher(code)
                    .find();
        }
    }

    /** Returns all blocks, in their order. */
    public List<Block> blocks() {
        List<Block> blocks = new ArrayList<>();
        String heading = "";
        int end = 0;
        Matcher part = PART.matcher(document);
        while (part.find()) {
            if (part.group("heading") != null) {
                heading = part.group("heading");
            } else {
                Matcher name = NAME.matcher(document.substring(end, part.start()));
                blocks.add(new Block(
                        heading,
                        part.group("language"),
                        name.find() ? name.group(1) : null,
                        part.group("code").stripTrailing().stripIndent()));
            }
            end = part.end();
        }
        return blocks;
    }

    /** Returns a block by its name. */
    public String block(String name) {
        Matcher block = Pattern.compile(
                        "<!-- tested: %s -->\\R *```\\w+\\R(.*?)```".formatted(Pattern.quote(name)), Pattern.DOTALL)
                .matcher(document);
        return block.results()
                .map(found -> found.group(1).strip())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("No block '%s' in the document".formatted(name)));
    }

    /**
     * Returns a part of the document.
     *
     * @param pattern with one group, which is returned
     */
    public String part(String pattern) {
        return Pattern.compile(pattern)
                .matcher(document)
                .results()
                .map((MatchResult found) -> found.group(1))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Nothing in the document is like " + pattern));
    }

    /**
     * Returns the text between {@code // tag::name} and {@code // end::name} in a test source, without its indentation.
     */
    public static String example(Class<?> test, String name) {
        Path source = Path.of("src/test/java", test.getName().replace('.', '/') + ".java");
        try {
            return Files.readString(source)
                    .split(" *// tag::%s\n".formatted(name), 2)[1]
                    .split(" *// end::%s\n".formatted(name), 2)[0]
                    .stripTrailing()
                    .stripIndent();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
