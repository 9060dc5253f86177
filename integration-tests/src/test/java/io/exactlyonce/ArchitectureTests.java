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
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.exactlyonce.delivery.Delivery;
import java.io.IOException;
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
import org.springframework.core.NestedExceptionUtils;

/**
 * The dependencies between packages, and the rules that the compiler cannot check. A rule that matches no class fails,
 * which is ArchUnit's default.
 */
@AnalyzeClasses(
        packages = "io.exactlyonce",
        importOptions = {DoNotIncludeTests.class, ArchitectureTests.OnlyTheEngine.class})
class ArchitectureTests {

    /** Leaves out modules that are published for tests, and the rigs of other tests. */
    static final class OnlyTheEngine implements ImportOption {

        @Override
        public boolean includes(Location location) {
            return Stream.of("/io/exactlyonce/servers/", "/io/exactlyonce/test/", "-tests.jar")
                    .noneMatch(location::contains);
        }
    }

    private static final String BASE = "io.exactlyonce";
    private static final String AUTOCONFIGURE = BASE + ".autoconfigure";

    private static final String[] ENGINE = packages(
            "claim..", "fingerprint", "queue", "renewal", "delivery..", "observed", "operations", "listener..");
    private static final String[] SQL = {"java.sql..", "javax.sql..", "org.springframework.jdbc.."};

    /** Only the wiring may use all packages. */
    private static final PackageTable MAY_USE = new PackageTable(Map.ofEntries(
            entry("", List.of()),
            entry("boundary", List.of()),
            entry("time", List.of()),
            entry("claim", List.of("", "time")),
            entry("claim.backend", List.of("", "claim")),
            entry("claim.groupcommit", List.of("claim", "time")),
            entry("claim.transaction", List.of("", "claim")),
            entry("property", List.of("")),
            entry("postgres", List.of()),
            entry("primary", List.of("", "postgres")),
            entry("claim.postgres", List.of("", "claim", "claim.backend", "postgres", "primary", "time")),
            entry(
                    "claim.postgres.transaction",
                    List.of("claim", "claim.postgres", "claim.transaction", "postgres", "primary")),
            entry("fingerprint", List.of()),
            entry("result", List.of("", "claim")),
            entry("queue", List.of()),
            entry("renewal", List.of("claim", "queue", "time")),
            entry("delivery", List.of("", "claim", "claim.transaction", "fingerprint", "renewal", "queue", "time")),
            entry(
                    "delivery.pipeline",
                    List.of("", "claim", "claim.transaction", "delivery", "renewal", "result", "queue", "time")),
            entry(
                    "operations",
                    List.of(
                            "",
                            "claim",
                            "claim.transaction",
                            "delivery",
                            "delivery.pipeline",
                            "fingerprint",
                            "renewal",
                            "result",
                            "time")),
            entry("observed", List.of("", "claim", "delivery", "fingerprint", "queue", "time")),
            entry("listener.message", List.of("delivery", "queue")),
            entry("listener.expression", List.of("", "claim", "listener.message")),
            entry(
                    "listener.method",
                    List.of(
                            "",
                            "claim",
                            "claim.transaction",
                            "delivery",
                            "delivery.pipeline",
                            "fingerprint",
                            "listener.expression",
                            "listener.message",
                            "observed",
                            "queue")),
            entry(
                    "listener.startup",
                    List.of("", "claim.transaction", "delivery", "listener.method", "renewal", "queue")),
            entry(
                    "listener.container",
                    List.of(
                            "",
                            "delivery",
                            "delivery.pipeline",
                            "listener.message",
                            "listener.method",
                            "listener.startup",
                            "queue",
                            "time")),
            entry(
                    "listener.observed",
                    List.of(
                            "",
                            "delivery",
                            "listener.message",
                            "listener.method",
                            "listener.startup",
                            "observed",
                            "queue")),
            entry("listener", List.of()),
            entry(
                    "listener.factory",
                    List.of(
                            "claim.transaction",
                            "listener",
                            "listener.container",
                            "listener.method",
                            "listener.observed",
                            "listener.startup")),
            entry("listener.aot", List.of("", "listener.expression", "listener.method")),
            entry("window", List.of("delivery", "queue", "time")),
            entry(
                    "actuate",
                    List.of("", "audit", "claim", "delivery", "observe", "observed", "renewal", "queue", "window")),
            entry(
                    "observe",
                    List.of("", "claim", "delivery", "listener.message", "renewal", "time", "queue", "window")),
            entry("audit", List.of("", "delivery", "time", "queue")),
            entry(
                    "metrics",
                    List.of(
                            "",
                            "audit",
                            "claim",
                            "claim.postgres",
                            "delivery",
                            "observed",
                            "primary",
                            "renewal",
                            "queue",
                            "window"))));

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
        MAY_USE.requireIsComplete(classes, AUTOCONFIGURE);
    }

    @ArchTest
    static void packagesSayWhatTheyUse(JavaClasses classes) throws IOException {
        MAY_USE.requirePackagesSayIt(classes);
    }

    @ArchTest
    static void noPackageIsSplitBetweenModules(JavaClasses classes) {
        Map<String, Set<String>> modules = classes.stream()
                .collect(Collectors.groupingBy(
                        JavaClass::getPackageName, Collectors.mapping(PackageTable::module, Collectors.toSet())));

        assertThat(modules.values().stream().flatMap(Set::stream)).hasSizeGreaterThan(4);
        assertThat(modules)
                .allSatisfy((name, places) -> assertThat(places).as(name).hasSize(1));
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

    /**
     * A package has few files, so that a reader can survey it. The API package may have more, because users look its
     * types up by name.
     */
    @ArchTest
    static void packagesHaveAtMostTwentyFiles(JavaClasses classes) {
        Map<String, Long> files = classes.stream()
                .filter(JavaClass::isTopLevelClass)
                .filter(type -> !type.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));

        assertThat(files)
                .isNotEmpty()
                .allSatisfy((name, count) ->
                        assertThat(count).as(name).isLessThanOrEqualTo(name.equals("io.exactlyonce") ? 30 : 20));
    }

    @ArchTest
    static final ArchRule packagesHaveNoCycles =
            slices().matching("io.exactlyonce.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule noPackageUsesTheWiring = noClasses()
            .that()
            .resideOutsideOfPackage(AUTOCONFIGURE)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(AUTOCONFIGURE);

    @ArchTest
    static final ArchRule onlyListenersUseSpringCloudAws = classes()
            .that(use("io.awspring.."))
            .should()
            .resideInAnyPackage(packages("listener.."))
            .orShould()
            .be(ExactlyOnceListener.class);

    @ArchTest
    static final ArchRule annotationUsesNothingOfSpringCloudAwsButItsAnnotation = noClasses()
            .that()
            .resideInAPackage(BASE)
            .should()
            .dependOnClassesThat(
                    resideInAPackage("io.awspring..").and(not(resideInAPackage("io.awspring.cloud.sqs.annotation"))));

    @ArchTest
    static final ArchRule onlyMetricsKnowMeters = classes()
            .that(use("io.micrometer.core.."))
            .should()
            .resideInAnyPackage(packages("metrics", "autoconfigure"));

    @ArchTest
    static final ArchRule onlyMetricsAndObservationsKnowMicrometer = classes()
            .that(use("io.micrometer.."))
            .should()
            .resideInAnyPackage(packages("metrics", "observe", "autoconfigure"));

    /**
     * The wiring of claims finds a DataSource and passes it on. One class decides which part of a database failure is
     * logged.
     */
    @ArchTest
    static final ArchRule onlyStoreAndPrimaryKnowSql = classes()
            .that(use(SQL))
            .should()
            .resideInAnyPackage(packages("claim.postgres..", "primary.."))
            .orShould()
            .haveNameMatching(
                    AUTOCONFIGURE + "\\.(PostgresClaimsConfiguration|ApplicationTarget)|.*\\.PrintableException");

    @ArchTest
    static final ArchRule claimsKnowNeitherSpringNorSql = noClasses()
            .that()
            .resideInAnyPackage(packages("claim", "claim.backend", "claim.groupcommit"))
            .should()
            .dependOnClassesThat(resideInAPackage("org.springframework..").or(resideInAnyPackage(SQL)));

    /** Renewals, responses of the queue and metrics run on threads that do not process the delivery. */
    @ArchTest
    static final ArchRule onlyTheProcessingThreadHasTheAttempt = noClasses()
            .that()
            .resideInAnyPackage(
                    "io.exactlyonce.renewal..",
                    "io.exactlyonce.queue..",
                    "io.exactlyonce.metrics..",
                    "io.exactlyonce.window..",
                    "io.exactlyonce.audit..")
            .should()
            .callMethod(Delivery.class, "attempt");

    /**
     * A wall clock that jumps by an hour changes nothing, because the engine uses a monotonic clock or the database's
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
    static final ArchRule engineTakesItsClockFromOutside =
            noClasses().that().resideInAnyPackage(ENGINE).should().callMethod(System.class, "nanoTime");

    /** Spring's search for the root cause never ends if the causes form a circle. {@code Causes} is bounded. */
    @ArchTest
    static final ArchRule causesAreBounded =
            noClasses().should().dependOnClassesThat(assignableTo(NestedExceptionUtils.class));

    private static String[] packages(String... names) {
        return Stream.of(names).map(PackageTable::full).toArray(String[]::new);
    }

    /**
     * Selects classes that use the packages. The condition proves that such classes exist, and that the pattern finds
     * them.
     */
    private static DescribedPredicate<JavaClass> use(String... packages) {
        return DescribedPredicate.describe(
                "use " + String.join(", ", packages),
                user -> user.getDirectDependenciesFromSelf().stream()
                        .anyMatch(dependency -> resideInAnyPackage(packages).test(dependency.getTargetClass())));
    }
}
