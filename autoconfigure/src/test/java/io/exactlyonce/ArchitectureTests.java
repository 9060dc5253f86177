package io.exactlyonce;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.targetOwner;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
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

/** A rule that matches no class at all fails, which is ArchUnit's default. */
@AnalyzeClasses(packages = "io.exactlyonce", importOptions = DoNotIncludeTests.class)
class ArchitectureTests {

    private static final String BASE = "io.exactlyonce";
    private static final String CLAIM = "io.exactlyonce.claim";
    private static final String POSTGRES = "io.exactlyonce.claim.postgres";
    private static final String PRIMARY = "io.exactlyonce.primary";
    private static final String VISIBILITY = "io.exactlyonce.visibility";
    private static final String DELIVERY = "io.exactlyonce.delivery";
    private static final String LISTENER = "io.exactlyonce.listener";
    private static final String WINDOW = "io.exactlyonce.window";
    private static final String METRICS = "io.exactlyonce.metrics";
    private static final String AUTOCONFIGURE = "io.exactlyonce.autoconfigure";

    private static final String[] ENGINE = {CLAIM, POSTGRES, VISIBILITY, DELIVERY, LISTENER};
    private static final String[] SQL = {"java.sql..", "javax.sql..", "org.springframework.jdbc.."};

    /** Which of our packages each of our packages may use; only the wiring may use all. */
    private static final Map<String, List<String>> MAY_USE = Map.of(
            BASE, List.of(),
            CLAIM, List.of(BASE),
            PRIMARY, List.of(),
            POSTGRES, List.of(BASE, CLAIM, PRIMARY),
            VISIBILITY, List.of(CLAIM),
            DELIVERY, List.of(BASE, CLAIM, VISIBILITY),
            LISTENER, List.of(BASE, CLAIM, DELIVERY, VISIBILITY),
            WINDOW, List.of(VISIBILITY),
            METRICS, List.of(DELIVERY, CLAIM, VISIBILITY, WINDOW, PRIMARY));

    @ArchTest
    static void packagesUseOnlyWhatTheyMay(JavaClasses classes) {
        MAY_USE.forEach((user, used) -> {
            String[] allowed = Stream.concat(used.stream(), Stream.of(user)).toArray(String[]::new);
            noClasses()
                    .that()
                    .resideInAPackage(user)
                    .should()
                    .dependOnClassesThat(resideInAPackage("io.exactlyonce..").and(not(resideInAnyPackage(allowed))))
                    .check(classes);
        });
    }

    @ArchTest
    static void everyPackageHasItsRule(JavaClasses classes) {
        Set<String> found = classes.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());

        assertThat(found)
                .containsExactlyInAnyOrderElementsOf(Stream.concat(MAY_USE.keySet().stream(), Stream.of(AUTOCONFIGURE))
                        .toList());
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
            slices().matching("io.exactlyonce.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule nobodyUsesTheWiring = noClasses()
            .that()
            .resideOutsideOfPackage(AUTOCONFIGURE)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(AUTOCONFIGURE);

    @ArchTest
    static final ArchRule onlyListenersKnowAwspring = classes()
            .that(use("io.awspring.."))
            .should()
            .resideInAPackage(LISTENER)
            .orShould()
            .be(ExactlyOnceListener.class);

    @ArchTest
    static final ArchRule annotationKnowsNothingOfAwspringButItsAnnotation = noClasses()
            .that()
            .resideInAPackage(BASE)
            .should()
            .dependOnClassesThat(
                    resideInAPackage("io.awspring..").and(not(resideInAPackage("io.awspring.cloud.sqs.annotation"))));

    @ArchTest
    static final ArchRule onlyMetricsKnowMicrometer =
            classes().that(use("io.micrometer..")).should().resideInAnyPackage(METRICS, AUTOCONFIGURE);

    /** The wiring of claims hands a DataSource on. */
    @ArchTest
    static final ArchRule onlyStoreAndPrimaryKnowSql = classes()
            .that(use(SQL))
            .should()
            .resideInAnyPackage(POSTGRES, PRIMARY)
            .orShould()
            .haveNameMatching(AUTOCONFIGURE + "\\.Claim(Configuration|Pool)");

    @ArchTest
    static final ArchRule claimsKnowNeitherSpringNorSql = noClasses()
            .that()
            .resideInAPackage(CLAIM)
            .should()
            .dependOnClassesThat(resideInAPackage("org.springframework..").or(resideInAnyPackage(SQL)));

    /** Set by an hour, forwards or backwards, it changes nothing: the engine's time is monotonic, or the database's. */
    @ArchTest
    static final ArchRule nobodyReadsTheWallClock = noClasses()
            .should()
            .accessTargetWhere(targetOwner(assignableTo(Temporal.class)).and(target(name("now"))))
            .orShould()
            .accessTargetWhere(targetOwner(type(System.class)).and(target(name("currentTimeMillis"))))
            .orShould()
            .dependOnClassesThat(
                    assignableTo(Clock.class).or(assignableTo(Date.class)).or(assignableTo(Calendar.class)));

    @ArchTest
    static final ArchRule engineTakesItsClockFromOutside =
            noClasses().that().resideInAnyPackage(ENGINE).should().callMethod(System.class, "nanoTime");

    /** As a condition on classes it proves that there is something to forbid, and that the pattern finds it. */
    private static DescribedPredicate<JavaClass> use(String... packages) {
        return DescribedPredicate.describe(
                "use " + String.join(", ", packages),
                user -> user.getDirectDependenciesFromSelf().stream()
                        .anyMatch(dependency -> resideInAnyPackage(packages).test(dependency.getTargetClass())));
    }
}
