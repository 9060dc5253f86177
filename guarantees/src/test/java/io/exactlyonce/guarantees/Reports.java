package io.exactlyonce.guarantees;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** The reports of Surefire and Failsafe on each test, in this build and all of its modules. */
final class Reports {

    /** Surefire's name for a failure before the tests of a class. */
    private static final String NO_TEST_BEGAN = "initializationError";

    /** The result of a test, and the report's text about it. */
    record Verdict(Outcome outcome, String reason) {}

    enum Outcome {
        PASSED,
        SKIPPED,
        FAILED,
        MISSING,
        /** The build excludes a tag of this test. */
        LEFT_OUT
    }

    /**
     * One execution of a test.
     *
     * @param types the simple names of its class and the enclosing classes
     * @param name the name of the method, with parameters and number if it has any
     */
    private record Case(List<String> types, String name, Verdict verdict) {

        boolean isOf(Set<String> wanted) {
            return types.stream().anyMatch(wanted::contains);
        }

        boolean isOf(String method) {
            return name.equals(method)
                    || (name.startsWith(method) && !Character.isJavaIdentifierPart(name.charAt(method.length())));
        }

        /** Returns whether the failure stands for all tests of its class, because none could begin. */
        boolean isOfWholeClass() {
            return name.equals(NO_TEST_BEGAN);
        }
    }

    private final List<Case> cases = new ArrayList<>();

    /**
     * Reads all reports.
     *
     * @param root the folder of all modules
     * @param started the start of the build; older reports belong to another build
     */
    Reports(Path root, Instant started) throws IOException {
        try (Stream<Path> modules = Files.list(root)) {
            modules.map(module -> module.resolve("target"))
                    .filter(Files::isDirectory)
                    .flatMap(Reports::directories)
                    .flatMap(Reports::files)
                    .filter(report -> !changed(report).isBefore(started))
                    .forEach(this::read);
        }
    }

    private static Stream<Path> directories(Path target) {
        return list(target).filter(each -> each.getFileName().toString().endsWith("-reports"));
    }

    private static Stream<Path> files(Path reports) {
        return list(reports).filter(each -> each.getFileName().toString().matches("TEST-.*\\.xml"));
    }

    private static Stream<Path> list(Path directory) {
        if (!Files.isDirectory(directory)) {
            return Stream.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList().stream();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static Instant changed(Path report) {
        try {
            return Files.getLastModifiedTime(report).toInstant();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void read(Path report) {
        NodeList found = parse(report).getElementsByTagName("testcase");
        for (int i = 0; i < found.getLength(); i++) {
            Element test = (Element) found.item(i);
            List<String> types = Arrays.asList(test.getAttribute("classname").split("[.$]"));
            cases.add(new Case(types, test.getAttribute("name"), verdict(test)));
        }
    }

    private static Document parse(Path report) {
        try {
            return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(report.toFile());
        } catch (IOException | ParserConfigurationException | SAXException failure) {
            throw new IllegalStateException("%s cannot be read".formatted(report), failure);
        }
    }

    private static Verdict verdict(Element test) {
        return Stream.of("failure", "error", "skipped")
                .map(tag -> test.getElementsByTagName(tag).item(0))
                .filter(Element.class::isInstance)
                .map(Element.class::cast)
                .map(end ->
                        new Verdict(end.getTagName().equals("skipped") ? Outcome.SKIPPED : Outcome.FAILED, reason(end)))
                .findFirst()
                .orElse(new Verdict(Outcome.PASSED, ""));
    }

    /** A failed assumption has no message, but its stack trace begins with an assumption. */
    private static String reason(Element end) {
        String message = end.getAttribute("message");
        return (message.isBlank() ? end.getTextContent() : message)
                .lines()
                .findFirst()
                .orElse("no reason is given");
    }

    /**
     * Returns the result of a test. A failure in any class counts, and a test is skipped only if no class ran it.
     *
     * @param types its class and all subclasses
     */
    Verdict of(Set<String> types, String method) {
        List<Verdict> ended = cases.stream()
                .filter(each -> each.isOf(types))
                .filter(each -> each.isOf(method) || each.isOfWholeClass())
                .map(Case::verdict)
                .toList();
        return Stream.of(Outcome.FAILED, Outcome.PASSED, Outcome.SKIPPED)
                .flatMap(outcome -> ended.stream().filter(verdict -> verdict.outcome() == outcome))
                .findFirst()
                .orElse(new Verdict(Outcome.MISSING, "no report of this build names it"));
    }
}
