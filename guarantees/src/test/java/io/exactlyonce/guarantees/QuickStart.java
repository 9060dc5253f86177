package io.exactlyonce.guarantees;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The blocks of code in a section of README. It needs no other class, so that it can be run from its source, too. */
final class QuickStart {

    static final String HEADING = "Quick start";

    private final String section;

    QuickStart(String readme, String heading) {
        Matcher found = Pattern.compile(
                        "^## " + Pattern.quote(heading) + "$(.*?)^## ", Pattern.MULTILINE | Pattern.DOTALL)
                .matcher(readme);
        if (!found.find()) {
            throw new IllegalArgumentException(
                    "README has no section '%s' that ends with another one".formatted(heading));
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

    /** Prints the first block of a language, of the quick start or another section: {@code java QuickStart.java README.md yaml [HEADING]}. */
    public static void main(String[] arguments) throws IOException {
        String heading = arguments.length > 2 ? arguments[2] : HEADING;
        System.out.print(new QuickStart(Files.readString(Path.of(arguments[0])), heading)
                .blocks(arguments[1])
                .get(0));
    }
}
