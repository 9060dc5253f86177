package io.exactlyonce.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The code in a document, so that a test runs exactly that code: the block behind a comment {@code <!-- tested: name
 * -->}.
 */
public final class DocumentedCode {

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

    /** Returns what a test source has between {@code // tag::name} and {@code // end::name}, without its indentation. */
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
