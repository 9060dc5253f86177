package io.exactlyonce;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Decision 10: only the listed classes catch errors of the virtual machine. Anywhere else such an error is a crash,
 * which ends at the boundary.
 */
class CatchOfEverythingTests {

    private static final Pattern CATCH = Pattern.compile("\\bcatch\\s*\\(([^)]*)\\)");
    /** Matches a clause that names all throwables, errors, or a subtype of errors. */
    private static final Pattern EVERYTHING = Pattern.compile("\\b(Throwable|\\w*Error)\\b(?=.*\\s\\w+$)");

    private static final Map<String, Integer> PERMITTED = Map.of(
            // Tasks, periodic tasks, the three log lines of a crash, and the release after the crash.
            "boundary/Boundary.java",
            6,
            // A handler, with or without a transaction; a reconciler; an action of once(..).
            "delivery/pipeline/HandlerCall.java",
            1,
            "delivery/pipeline/TransactionalHandler.java",
            1,
            "delivery/pipeline/Reconciling.java",
            1,
            // A call of a handler within a transaction, and two of the advice around it, whose failures are thrown
            // again.
            "listener/method/ListenerInvocation.java",
            3,
            // A call of advice on another thread.
            "delivery/MethodCalls.java",
            1,
            "operations/ActionExecutor.java",
            1,
            "result/StoredResults.java",
            1,
            "delivery/DeliveryObservers.java",
            2);

    @Test
    void errorsAreCaughtOnlyWhereForeignCodeIsCalledAndAtTheBoundary() throws IOException {
        Map<String, Integer> found = new TreeMap<>();
        for (String module : List.of("core", "postgres", "observability", "autoconfigure", "dynamodb")) {
            Path sources = Path.of("..", module, "src", "main", "java", "io", "exactlyonce");
            try (Stream<Path> files = Files.walk(sources)) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(file -> {
                    int catches = catchesOfEverything(file);
                    if (catches > 0) {
                        found.put(sources.relativize(file).toString(), catches);
                    }
                });
            }
        }

        assertThat(found).containsExactlyInAnyOrderEntriesOf(PERMITTED);
    }

    @Test
    void clausesThatNameAnErrorAreFound() {
        assertThat(Stream.of("Throwable t", "final Throwable t", "RuntimeException | StackOverflowError e", "Error e"))
                .allMatch(CatchOfEverythingTests::catchesEverything);
        assertThat(Stream.of("RuntimeException error", "IOException | SQLException failure", "Exception lastError"))
                .noneMatch(CatchOfEverythingTests::catchesEverything);
    }

    private static int catchesOfEverything(Path file) {
        try {
            Matcher clause = CATCH.matcher(Files.readString(file));
            int catches = 0;
            while (clause.find()) {
                catches += catchesEverything(clause.group(1)) ? 1 : 0;
            }
            return catches;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static boolean catchesEverything(String clause) {
        return EVERYTHING.matcher(clause.strip()).find();
    }
}
