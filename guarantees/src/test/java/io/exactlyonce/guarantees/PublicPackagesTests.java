package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The packages that applications may use: their declaration, the API baseline that compares them, and the types that
 * they expose.
 */
@AnalyzeClasses(
        packages = "io.exactlyonce",
        importOptions = {DoNotIncludeTests.class, PublicPackagesTests.NoRigs.class})
class PublicPackagesTests {

    static final class NoRigs implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("-tests.jar") && !location.contains("/test-classes/");
        }
    }

    private static final Set<String> PUBLIC = Set.of(
            "io.exactlyonce",
            "io.exactlyonce.claim",
            "io.exactlyonce.listener",
            "io.exactlyonce.dynamodb",
            "io.exactlyonce.servers",
            "io.exactlyonce.test",
            "io.exactlyonce.test.contract",
            "io.exactlyonce.test.kit");

    private static final List<String> PUBLISHED =
            List.of("core", "postgres", "observability", "autoconfigure", "test", "dynamodb", "servers");

    private static final Pattern FIRST_WORD = Pattern.compile("/\\*\\*\\s+(?:\\*\\s+)?(\\S+)");
    private static final Pattern INCLUDE = Pattern.compile("<include>(io\\.exactlyonce[^<]*)</include>");

    /** Internal types that a public type exposes, each with its reason. */
    private static final Map<String, String> SHOWN = Map.of(
            "io.exactlyonce.claim.ClaimIdGenerator shows io.exactlyonce.time.NanoClock",
            "only the wiring makes one",
            "io.exactlyonce.dynamodb.DynamoDbClaims shows io.exactlyonce.dynamodb.clock.LeaseClock",
            "only the wiring makes one, and applications inject DynamoDbCompletion",
            "io.exactlyonce.dynamodb.DynamoDbClaims shows io.exactlyonce.dynamodb.request.Pauses",
            "only the wiring makes one, and applications inject DynamoDbCompletion",
            "io.exactlyonce.test.InMemoryClaimStore shows io.exactlyonce.time.NanoClock",
            "the kit moves its time, and applications use the constructor without a clock");

    @ArchTest
    static void everyOtherPackageSaysThatItIsInternal(JavaClasses classes) throws IOException {
        Map<String, String> firstWords = new TreeMap<>();
        for (String module : PUBLISHED) {
            Path sources = Path.of("..", module, "src/main/java");
            try (Stream<Path> files = Files.walk(sources)) {
                for (Path file :
                        files.filter(each -> each.endsWith("package-info.java")).toList()) {
                    var found = FIRST_WORD.matcher(Files.readString(file));
                    firstWords.put(
                            sources.relativize(file.getParent()).toString().replace('/', '.'),
                            found.find() ? found.group(1) : "");
                }
            }
        }

        assertThat(firstWords)
                .hasSizeGreaterThan(30)
                .allSatisfy((name, word) ->
                        assertThat(word.equals("Internal:")).as(name).isNotEqualTo(PUBLIC.contains(name)));
        assertThat(firstWords.keySet()).containsAll(PUBLIC);
    }

    @ArchTest
    static void apiBaselineComparesThePublicPackages(JavaClasses classes) throws IOException {
        String pom = Files.readString(Path.of("../pom.xml"));
        String profile = pom.substring(pom.indexOf("<id>api-baseline</id>"));

        assertThat(INCLUDE.matcher(profile.substring(0, profile.indexOf("</profile>")))
                        .results()
                        .map(found -> found.group(1)))
                .containsExactlyInAnyOrderElementsOf(PUBLIC);
    }

    /** Applications compile against signatures, so an internal type in a signature is effectively public. */
    @ArchTest
    static void publicTypesShowPublicTypesOnly(JavaClasses classes) {
        Set<String> shown = classes.stream()
                .filter(PublicPackagesTests::isPublic)
                .flatMap(type -> shownBy(type)
                        .filter(seen -> seen.getPackageName().startsWith("io.exactlyonce"))
                        .filter(seen -> !PUBLIC.contains(seen.getPackageName()))
                        .map(seen -> type.getName() + " shows " + seen.getName()))
                .collect(Collectors.toSet());

        assertThat(shown).containsExactlyInAnyOrderElementsOf(SHOWN.keySet());
    }

    private static boolean isPublic(JavaClass type) {
        return PUBLIC.contains(type.getPackageName())
                && type.getModifiers().contains(JavaModifier.PUBLIC)
                && type.getEnclosingClass().map(PublicPackagesTests::isPublic).orElse(true);
    }

    private static Stream<JavaClass> shownBy(JavaClass type) {
        Stream<JavaType> supertypes = Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream());
        Stream<JavaType> members = type.getMembers().stream()
                .filter(PublicPackagesTests::isVisible)
                .flatMap(PublicPackagesTests::signature);
        return Stream.concat(supertypes, members)
                .map(JavaType::getAllInvolvedRawTypes)
                .flatMap(Collection::stream)
                .map(JavaClass::getBaseComponentType);
    }

    private static boolean isVisible(JavaMember member) {
        Set<JavaModifier> modifiers = member.getModifiers();
        return !modifiers.contains(JavaModifier.SYNTHETIC)
                && (modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED));
    }

    private static Stream<JavaType> signature(JavaMember member) {
        if (member instanceof JavaField field) {
            return Stream.of(field.getType());
        }
        JavaCodeUnit code = (JavaCodeUnit) member;
        return Stream.of(
                        Stream.of(code.getReturnType()),
                        code.getParameterTypes().stream(),
                        code.getExceptionTypes().stream())
                .flatMap(each -> each);
    }
}
