package io.exactlyonce.test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.stream.Stream;

/**
 * Tests the class path that a claim store needs. This class path has neither Spring nor JDBC, and the in-memory store
 * also needs no test library.
 */
@AnalyzeClasses(packages = "io.exactlyonce.test", importOptions = DoNotIncludeTests.class)
class PublishedClassesTests {

    private static final String STORE = "io.exactlyonce.test";
    private static final String CONTRACT = "io.exactlyonce.test.contract";
    private static final String[] SPI = {
        "io.exactlyonce",
        "io.exactlyonce.claim",
        "io.exactlyonce.time",
        "java.lang..",
        "java.time..",
        "java.util..",
        "org.jspecify.."
    };

    @ArchTest
    static final ArchRule storeKnowsTheSpiOnly = classes()
            .that()
            .resideInAPackage(STORE)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(with(STORE));

    @ArchTest
    static final ArchRule contractKnowsTheSpiTheEngineThatItDrivesAndTestLibrariesOnly = classes()
            .that()
            .resideInAPackage(CONTRACT)
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(with(
                    CONTRACT,
                    "io.exactlyonce.delivery",
                    "io.exactlyonce.delivery.pipeline",
                    "io.exactlyonce.result",
                    "io.exactlyonce.renewal",
                    "io.exactlyonce.queue",
                    "org.junit.jupiter..",
                    "org.assertj.."));

    private static String[] with(String... more) {
        return Stream.concat(Stream.of(SPI), Stream.of(more)).toArray(String[]::new);
    }
}
