package io.exactlyonce;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Failures are logged through {@code PrintableException} or {@code RedactedException} only, because servers and
 * drivers put senders' text into exception messages.
 */
class FailuresInLogsTests {

    private static final Pattern CALL =
            Pattern.compile("\\blog\\.(trace|debug|info|warn|error)\\((.*?)\\);", Pattern.DOTALL);
    private static final Pattern TEXT = Pattern.compile("\"(?:\\\\.|[^\"\\\\])*+\"");
    private static final Pattern DECLARATION =
            Pattern.compile("\\b\\w*(?:Throwable|Exception|Error)\\s+(\\w+)\\s*[;,)=:]");

    /** The harmless ways in which a log line may use a failure. */
    private static final Pattern HARMLESS = Pattern.compile(
            "\\b(PrintableException|RedactedException)\\.(of|reason)\\([\\w.()]*\\)|\\bwhy\\(\\w+\\)|\\w+\\.get(Message|Class)\\(\\)"
                    + "|\\w+ instanceof \\w+|\\w+ [=!]= null|ClaimPool\\.sqlState\\(\\w+\\)|\\b(reason|printable|TypeAndPlace\\.of)\\(\\w+\\)|\\w+\\.problem\\(\\)");

    @Test
    void everyFailureIsLoggedAsALogCanTakeIt() throws IOException {
        for (String module : List.of("core", "postgres", "observability", "autoconfigure", "dynamodb")) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
                assertThat(files.filter(file -> file.toString().endsWith(".java"))
                                .flatMap(file -> rawIn(read(file)).map(call -> file.getFileName() + ": " + call)))
                        .as(module)
                        .isEmpty();
            }
        }
    }

    @Test
    void failureThatIsLoggedAsItIsIsFound() {
        assertThat(rawIn("catch (IOException e) { log.warn(\"{} failed; (e) it\", key, e); }"))
                .containsExactly("(, key, e)");
        assertThat(rawIn("void told(Throwable e) { log.warn(\"no\", x ? null : e); }"))
                .hasSize(1);
        assertThat(rawIn("void told(Throwable e) { log.warn(\"no\", PrintableException.of(e)); }"))
                .isEmpty();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Stream<String> rawIn(String source) {
        String code = TEXT.matcher(source).replaceAll("");
        Set<String> failures =
                DECLARATION.matcher(code).results().map(name -> name.group(1)).collect(Collectors.toSet());
        Matcher calls = CALL.matcher(code);
        return calls.results()
                .map(MatchResult::group)
                .map(call -> call.substring(call.indexOf('(')).replaceAll("\\s+", " "))
                .filter(call -> {
                    String rest = HARMLESS.matcher(call).replaceAll("");
                    return failures.stream()
                            .anyMatch(name -> Pattern.compile("(?<!\\.)\\b" + name + "\\b(?!\\()")
                                    .matcher(rest)
                                    .find());
                })
                .map(call -> call.replaceAll(";$", ""));
    }
}
