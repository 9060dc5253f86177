package io.exactlyonce.guarantees;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The blocks of code in README's quick start. It needs no other class, so that it can be run from its source, too. */
final class QuickStart {

    private static final Pattern SECTION =
            Pattern.compile("^## Quick start$(.*?)^## ", Pattern.MULTILINE | Pattern.DOTALL);

    private final String section;

    QuickStart(String readme) {
        Matcher found = SECTION.matcher(readme);
        if (!found.find()) {
            throw new IllegalArgumentException("README has no section 'Quick start' that ends with another one");
        }
        section = found.group(1);
    }

    /** Returns the blocks of a language, in their order, as they would stand in a file. */
    List<String> blocks(String language) {
        Pattern block =
                Pattern.compile("^( *)```" + language + "$\\n(.*?)^\\1```$", Pattern.MULTILINE | Pattern.DOTALL);
        return block.matcher(section)
                .results()
                .map(result -> result.group(2).replaceAll("(?m)^" + result.group(1), ""))
                .toList();
    }

    /** Prints the first block of a language: {@code java QuickStart.java README.md yaml}. */
    public static void main(String[] arguments) throws IOException {
        System.out.print(new QuickStart(Files.readString(Path.of(arguments[0])))
                .blocks(arguments[1])
                .get(0));
    }
}
