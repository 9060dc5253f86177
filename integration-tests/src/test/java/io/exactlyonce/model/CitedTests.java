package io.exactlyonce.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds the tests that a document names, as {@code FooTests#method}, among the sources of all tests. */
final class CitedTests {

    private static final Pattern CITATION = Pattern.compile("`(\\w+(?:Tests|IT|Contract))#(\\w+)`");

    /** The arguments may contain braces, which do not belong to an annotation. */
    private static final Pattern STRING = Pattern.compile("\"(?:\\\\.|[^\"\\\\\n])*\"");

    private static final Pattern CLASS = Pattern.compile("`(\\w+(?:Tests|IT|Contract))`");

    private final List<Path> sources;

    /** @param root the folder of all modules */
    CitedTests(Path root) throws IOException {
        try (Stream<Path> modules = Files.list(root)) {
            sources = modules.map(module -> module.resolve("src"))
                    .filter(Files::isDirectory)
                    .flatMap(CitedTests::walk)
                    .filter(file -> file.toString().endsWith(".java"))
                    .toList();
        }
    }

    private static Stream<Path> walk(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.toList().stream();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static List<String> in(String text) {
        return CITATION.matcher(text)
                .results()
                .map(found -> found.group(1) + "#" + found.group(2))
                .distinct()
                .toList();
    }

    /** Returns the classes that a text names without a method. */
    static List<String> classesIn(String text) {
        return CLASS.matcher(text)
                .results()
                .map(found -> found.group(1))
                .distinct()
                .toList();
    }

    /** Returns whether a class of that name exists. */
    boolean existClass(String name) {
        return sources.stream().anyMatch(source -> source.endsWith(name + ".java"));
    }

    /** Returns whether a class of that name exists and has a test method of that name. */
    boolean exist(String citation) {
        String[] names = citation.split("#", 2);
        Pattern method =
                Pattern.compile("(?s)@(Test|ParameterizedTest|Property|RepeatedTest)\\b[^{};]*(\\{[^{};]*}[^{};]*)*"
                        + "\\bvoid " + names[1] + "\\(");
        return sources.stream()
                .filter(source -> source.endsWith(names[0] + ".java"))
                .map(source -> STRING.matcher(read(source)).replaceAll("\"\""))
                .anyMatch(source -> method.matcher(source).find());
    }

    private static String read(Path source) {
        try {
            return Files.readString(source);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
