package io.exactlyonce;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A page of the documentation that is generated from the sources. The tests of such pages are classes named {@code
 * ...PageTests}, so one command can write all pages.
 */
public final class GeneratedPage {

    private static final String WRITE = "pages.write";

    private GeneratedPage() {}

    /** Asserts that a page has the expected text. With {@code -Dpages.write}, writes the text instead. */
    public static void matches(Path page, String expected) {
        try {
            if (System.getProperty(WRITE) != null) {
                Files.writeString(page, expected);
            }
            assertThat(Files.exists(page) ? Files.readString(page) : "")
                    .as(
                            "%s is generated. Write it with: ./mvnw test -D%s -Dtest='*PageTests'"
                                    + " -Dsurefire.failIfNoSpecifiedTests=false",
                            page.getFileName(), WRITE)
                    .isEqualTo(expected);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
