package io.exactlyonce.dynamodb;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.targetOwner;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.exactlyonce.PackageTable;
import java.io.IOException;
import java.time.Clock;
import java.time.temporal.Temporal;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;

/** The architecture rules of the engine, for the packages of this module. */
@AnalyzeClasses(packages = "io.exactlyonce.dynamodb", importOptions = DoNotIncludeTests.class)
class DynamoDbArchitectureTests {

    private static final String BASE = "io.exactlyonce.dynamodb";
    private static final String WIRING = BASE + ".autoconfigure";

    /** A store may only use the engine's contract. The wiring may use all packages. */
    private static final PackageTable MAY_USE = new PackageTable(Map.of(
            "dynamodb.clock", List.of("time"),
            "dynamodb.item", List.of("", "claim", "claim.backend", "dynamodb.clock"),
            "dynamodb.request", List.of("claim", "dynamodb.item", "time"),
            "dynamodb.table", List.of("", "dynamodb.item"),
            "dynamodb", List.of("", "claim", "claim.backend", "dynamodb.clock", "dynamodb.item", "dynamodb.request")));

    @ArchTest
    static void packagesUseOnlyWhatTheyMay(JavaClasses classes) {
        MAY_USE.requireNothingElseIsUsed(classes);
    }

    @ArchTest
    static void packagesUseWhatTheyMay(JavaClasses classes) throws IOException {
        MAY_USE.requireAllIsUsed(classes);
    }

    @ArchTest
    static void everyPackageHasItsRule(JavaClasses classes) {
        MAY_USE.requireIsComplete(classes, WIRING);
    }

    @ArchTest
    static void packagesSayWhatTheyUse(JavaClasses classes) throws IOException {
        MAY_USE.requirePackagesSayIt(classes);
    }

    @ArchTest
    static void everyPackageIsNullMarked(JavaClasses classes) {
        Set<JavaPackage> packages = classes.stream().map(JavaClass::getPackage).collect(Collectors.toSet());

        assertThat(packages)
                .isNotEmpty()
                .allSatisfy(each -> assertThat(each.isAnnotatedWith(NullMarked.class))
                        .as(each.getName())
                        .isTrue());
    }

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching(BASE + ".(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule storeKnowsNoSpring = noClasses()
            .that()
            .resideOutsideOfPackage(WIRING)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.springframework..");

    /**
     * A change of the host's clock by an hour changes nothing, because times come from the service or from a monotonic
     * clock.
     */
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
}
