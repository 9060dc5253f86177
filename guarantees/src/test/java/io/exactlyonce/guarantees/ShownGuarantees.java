package io.exactlyonce.guarantees;

import io.exactlyonce.guarantees.Reports.Outcome;
import io.exactlyonce.guarantees.Reports.Verdict;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The tests that the pages of evidence name, and the result of each of them in this build. */
final class ShownGuarantees {

    private static final List<String> DOCUMENTS = List.of(
            "contributing/evidence.md",
            "contributing/model.md",
            "contributing/architecture.md",
            "contributing/evidence-spring-cloud-aws.md",
            "contributing/evidence-adopting.md",
            "contributing/evidence-stores.md",
            "contributing/evidence-compatibility.md");

    private final Map<String, Verdict> verdicts = new TreeMap<>();

    /**
     * Reads the documents, all test sources and all reports.
     *
     * @param root the folder of all modules
     * @param started the start of the build
     * @param excluded the tags of tests that this build need not run
     */
    ShownGuarantees(Path root, Instant started, Set<String> excluded) throws IOException {
        Reports reports = new Reports(root, started);
        List<String> sources = sources(root);
        Subtypes subtypes = new Subtypes(sources);
        Tags tags = new Tags(sources);
        for (String document : DOCUMENTS) {
            for (NamedTest test : NamedTest.in(read(root.resolve("docs").resolve(document)))) {
                Verdict verdict = reports.of(subtypes.of(test.type()), test.method());
                boolean leftOut =
                        verdict.outcome() == Outcome.MISSING && !Collections.disjoint(tags.of(test.type()), excluded);
                verdicts.put(test.toString(), leftOut ? new Verdict(Outcome.LEFT_OUT, "") : verdict);
            }
        }
    }

    private static List<String> sources(Path root) throws IOException {
        try (Stream<Path> modules = Files.list(root)) {
            return modules.map(module -> module.resolve("src"))
                    .filter(Files::isDirectory)
                    .flatMap(ShownGuarantees::texts)
                    .toList();
        }
    }

    private static Stream<String> texts(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.toString().endsWith(".java")).map(ShownGuarantees::read).toList().stream();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static String read(Path source) {
        try {
            return Files.readString(source);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    int count() {
        return verdicts.size();
    }

    /** Returns the skipped tests, each with the reason in its report. */
    List<String> skipped() {
        return lines(Outcome.SKIPPED::equals);
    }

    /** Returns the number of tests that did not run because of their tags. */
    long leftOut() {
        return verdicts.values().stream()
                .filter(verdict -> verdict.outcome() == Outcome.LEFT_OUT)
                .count();
    }

    /** Returns the tests that failed, and the required tests that did not run. */
    List<String> notShown() {
        return lines(outcome -> outcome == Outcome.FAILED || outcome == Outcome.MISSING);
    }

    private List<String> lines(Predicate<Outcome> wanted) {
        return verdicts.entrySet().stream()
                .filter(entry -> wanted.test(entry.getValue().outcome()))
                .map(entry -> "%s %s: %s"
                        .formatted(
                                entry.getKey(),
                                entry.getValue().outcome(),
                                entry.getValue().reason()))
                .toList();
    }
}
