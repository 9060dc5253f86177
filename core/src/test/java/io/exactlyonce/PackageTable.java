package io.exactlyonce;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A table of the packages that each package may use, for the architecture tests of each module. Every package may use
 * the boundary package.
 *
 * @param mayUse for each package, the packages that it may use. Names are relative to the base package, whose name is
 *     empty
 */
public record PackageTable(Map<String, List<String>> mayUse) {

    private static final String BASE = "io.exactlyonce";
    private static final String FREE = "boundary";

    private static final Pattern SIGN = Pattern.compile(
            "This package uses (no other package|\\{@code [\\w.]+}(, \\{@code [\\w.]+})*( and \\{@code [\\w.]+})?)\\.\\s+\\*/");

    private static final Pattern IMPORT = Pattern.compile("^import (?:static )?([a-z.]+)\\.[A-Z]", Pattern.MULTILINE);

    /** Returns the full name of a package. */
    public static String full(String name) {
        return name.isEmpty() ? BASE : BASE + "." + name;
    }

    /** Asserts that each class uses only packages that the table allows. */
    public void requireNothingElseIsUsed(JavaClasses classes) {
        mayUse.forEach((user, used) -> {
            String[] allowed = Stream.concat(used.stream(), Stream.of(user, FREE))
                    .map(PackageTable::full)
                    .toArray(String[]::new);
            noClasses()
                    .that()
                    .resideInAPackage(full(user))
                    .should()
                    .dependOnClassesThat(resideInAPackage(BASE + "..").and(not(resideInAnyPackage(allowed))))
                    .check(classes);
        });
    }

    /**
     * Asserts that some class uses each allowed package. Searches class files and sources, because class files do not
     * show constants, and sources do not show inherited types.
     */
    public void requireAllIsUsed(JavaClasses classes) throws IOException {
        for (Map.Entry<String, List<String>> each : mayUse.entrySet()) {
            Set<String> used = imported(sources(classes, each.getKey()));
            classes.stream()
                    .filter(type -> type.getPackageName().equals(full(each.getKey())))
                    .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                    .forEach(dependency -> used.add(dependency.getTargetClass().getPackageName()));
            assertThat(used)
                    .as("what " + full(each.getKey()) + " uses")
                    .containsAll(
                            each.getValue().stream().map(PackageTable::full).toList());
        }
    }

    private static Set<String> imported(Path sources) throws IOException {
        Set<String> imported = new HashSet<>();
        try (Stream<Path> files = Files.list(sources)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                IMPORT.matcher(Files.readString(file)).results().forEach(found -> imported.add(found.group(1)));
            }
        }
        return imported;
    }

    /**
     * Asserts that each package except the wiring has a row. The wiring needs none, because it may use all packages.
     */
    public void requireIsComplete(JavaClasses classes, String wiring) {
        assertThat(classes.stream().map(JavaClass::getPackageName).collect(Collectors.toSet()))
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(mayUse.keySet().stream().map(PackageTable::full), Stream.of(wiring))
                                .toList());
    }

    /** Asserts that the Javadoc of each package ends with the names of the packages that it may use. */
    public void requirePackagesSayIt(JavaClasses classes) throws IOException {
        for (Map.Entry<String, List<String>> each : mayUse.entrySet()) {
            assertThat(said(sources(classes, each.getKey()).resolve("package-info.java")))
                    .as("package-info of " + full(each.getKey()))
                    .containsExactlyInAnyOrderElementsOf(each.getValue().stream()
                            .map(name -> name.isEmpty() ? BASE : name)
                            .toList());
        }
    }

    /** Returns the folder, or the path within a jar, that contains the packages of a class's module. */
    public static String module(JavaClass type) {
        String place = type.getSource().orElseThrow().getUri().toString();
        return place.substring(0, place.indexOf(type.getPackageName().replace('.', '/')));
    }

    private static Path sources(JavaClasses classes, String name) {
        String module = classes.stream()
                .filter(type -> type.getPackageName().equals(full(name)))
                .findFirst()
                .map(PackageTable::module)
                .orElseThrow();
        return Path.of(
                module.substring(module.indexOf('/'), module.indexOf("/target/")),
                "src/main/java",
                full(name).replace('.', '/'));
    }

    private static List<String> said(Path info) throws IOException {
        Matcher sign = SIGN.matcher(Files.readString(info).replaceAll("\\s+\\*\\s+", " "));
        assertThat(sign.find())
                .as(info + " has the sentence \"This package uses ...\"")
                .isTrue();
        return Pattern.compile("\\{@code ([\\w.]+)}")
                .matcher(sign.group())
                .results()
                .map(found -> found.group(1))
                .toList();
    }
}
