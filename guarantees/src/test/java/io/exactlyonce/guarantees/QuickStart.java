package io.exactlyonce.guarantees;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the blocks of code in a section of a page. The class needs no other class, so its source file runs as a
 * program.
 */
final class QuickStart {

    private final String section;

    QuickStart(String page, String heading) {
        Matcher found = Pattern.compile(
                        "^## " + Pattern.quote(heading) + "$(.*?)^## ", Pattern.MULTILINE | Pattern.DOTALL)
                .matcher(page);
        if (!found.find()) {
            throw new IllegalArgumentException("no section '%s' that another one follows".formatted(heading));
        }
        section = found.group(1);
    }

    /** Returns the blocks of a language in order, as the lines of a file. */
    List<String> blocks(String language) {
        Pattern block =
                Pattern.compile("^( *)```" + language + "$\\n(.*?)^\\1```$", Pattern.MULTILINE | Pattern.DOTALL);
        return block.matcher(section)
                .results()
                .map(result -> result.group(2).replaceAll("(?m)^" + result.group(1), ""))
                .toList();
    }

    /** Prints a block: {@code java QuickStart.java README.md yaml 0 'Quick start'}. */
    public static void main(String[] arguments) throws IOException {
        System.out.print(new QuickStart(Files.readString(Path.of(arguments[0])), arguments[3])
                .blocks(arguments[1])
                .get(Integer.parseInt(arguments[2])));
    }
}
