package io.exactlyonce.dynamodb;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.targetOwner;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.temporal.Temporal;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** The rules of the engine, for the rooms of this module. */
@AnalyzeClasses(packages = "io.exactlyonce.dynamodb", importOptions = DoNotIncludeTests.class)
class DynamoDbArchitectureTests {

    private static final String BASE = "io.exactlyonce.dynamodb";
    private static final String WIRING = BASE + ".autoconfigure";

    /** Which rooms each may use; only the wiring may use all. The base package's name is empty. */
    private static final Map<String, List<String>> MAY_USE = Map.ofEntries(
            entry("clock", List.of()),
            entry("item", List.of("clock")),
            entry("request", List.of("item")),
            entry("table", List.of("item")),
            entry("", List.of("clock", "item", "request")));

    @ArchTest
    static void roomsUseOnlyWhatTheyMay(JavaClasses classes) {
        MAY_USE.forEach((user, used) -> {
            String[] allowed = Stream.concat(used.stream(), Stream.of(user))
                    .map(DynamoDbArchitectureTests::room)
                    .toArray(String[]::new);
            noClasses()
                    .that()
                    .resideInAPackage(room(user))
                    .should()
                    .dependOnClassesThat(resideInAPackage(BASE + "..").and(not(resideInAnyPackage(allowed))))
                    .check(classes);
        });
    }

    @ArchTest
    static void everyRoomHasItsRule(JavaClasses classes) {
        Set<String> found = classes.stream()
                .map(JavaClass::getPackageName)
                .filter(room -> !room.equals(WIRING))
                .collect(Collectors.toSet());

        assertThat(found)
                .containsExactlyInAnyOrderElementsOf(MAY_USE.keySet().stream()
                        .map(DynamoDbArchitectureTests::room)
                        .toList());
    }

    @ArchTest
    static void everyRoomIsNullMarked(JavaClasses classes) {
        Set<JavaPackage> packages = classes.stream().map(JavaClass::getPackage).collect(Collectors.toSet());

        assertThat(packages)
                .isNotEmpty()
                .allSatisfy(each -> assertThat(each.isAnnotatedWith(NullMarked.class))
                        .as(each.getName())
                        .isTrue());
    }

    @ArchTest
    static final ArchRule roomsHaveNoCycles =
            slices().matching(BASE + ".(**)").should().beFreeOfCycles();

    /** Of the engine, a store knows the contract alone. */
    @ArchTest
    static final ArchRule storeKnowsTheContractOnly = noClasses()
            .that()
            .resideOutsideOfPackage(WIRING)
            .should()
            .dependOnClassesThat(resideInAPackage("io.exactlyonce..")
                    .and(not(resideInAnyPackage(
                            BASE + "..",
                            "io.exactlyonce",
                            "io.exactlyonce.claim",
                            "io.exactlyonce.claim.backend",
                            "io.exactlyonce.boundary",
                            "io.exactlyonce.time"))))
            .orShould()
            .dependOnClassesThat()
            .resideInAPackage("org.springframework..");

    /** Set by an hour, a host's clock changes nothing: the time is the service's, or monotonic. */
    @ArchTest
    static final ArchRule noClassReadsTheWallClock = noClasses()
            .should()
            .accessTargetWhere(targetOwner(assignableTo(Temporal.class)).and(target(name("now"))))
            .orShould()
            .accessTargetWhere(targetOwner(type(System.class)).and(target(name("currentTimeMillis"))))
            .orShould()
            .dependOnClassesThat(
                    assignableTo(Clock.class).or(assignableTo(Date.class)).or(assignableTo(Calendar.class)));

    @ArchTest
    static final ArchRule clockComesFromOutside =
            noClasses().that().resideOutsideOfPackage(WIRING).should().callMethod(System.class, "nanoTime");

    private static String room(String name) {
        return name.isEmpty() ? BASE : BASE + "." + name;
    }
}
