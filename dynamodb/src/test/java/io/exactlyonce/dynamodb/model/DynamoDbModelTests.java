package io.exactlyonce.dynamodb.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.dynamodb.DynamoDbClaims;
import io.exactlyonce.dynamodb.model.Explorer.Exploration;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every interleaving keeps the rules, and a rule breaks if any guard is missing. {@code -Dmodel.faults=3} explores more
 * than the build.
 */
class DynamoDbModelTests {

    private static final Logger log = LoggerFactory.getLogger(DynamoDbModelTests.class);

    private static final int FAULTS = Integer.getInteger("model.faults", 2);

    @Test
    void everyInterleavingKeepsTheRules() {
        Exploration all = Explorer.explore(Set.of(), FAULTS);

        log.info("With {} faults: {}", FAULTS, all);
        assertThat(all.broken()).as(all.toString()).isEmpty();
        assertThat(all.states()).as("states, so that something was explored").isGreaterThan(10_000);
    }

    @ParameterizedTest
    @EnumSource
    void withoutThisGuardARuleIsBroken(Guard guard) {
        Exploration found = Explorer.explore(Set.of(guard), FAULTS);

        log.info("Without {}: {}", guard, found);
        assertThat(found.broken()).as("a rule is broken without " + guard).isNotEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void guardIsAMethodOfTheStoreAndHasATest(Guard guard) throws ReflectiveOperationException, IOException {
        String[] method = guard.enforcer().split("#", 2);
        Class<?> enforcer = Class.forName(DynamoDbClaims.class.getPackageName() + "." + method[0]);
        assertThat(enforcer.getDeclaredMethods()).extracting(Method::getName).contains(method[1]);

        String[] test = guard.test().split("#", 2);
        assertThat(source(test[0])).contains("void " + test[1] + "(");
    }

    private static String source(String test) throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("src", "test", "java"))) {
            return Files.readString(files.filter(file -> file.endsWith(test + ".java"))
                    .findFirst()
                    .orElseThrow());
        }
    }
}
