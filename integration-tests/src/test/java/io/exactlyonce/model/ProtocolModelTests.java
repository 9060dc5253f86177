package io.exactlyonce.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.GeneratedPage;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Every interleaving of the protocol keeps its rules, and without any of its guards a rule is broken. {@code
 * -Dmodel.faults=3} goes further than continuous integration does, and takes minutes.
 */
class ProtocolModelTests {

    private static final Logger log = LoggerFactory.getLogger(ProtocolModelTests.class);

    private static final Path PAGE = Path.of("..", "docs", "contributing", "model.md");

    /** Each message has two receives, so a key can be claimed four times. */
    private static final int RECEIVES = Integer.getInteger("model.receives", 2);

    private static final Map<Guard, Counterexample> FOUND = new EnumMap<>(Guard.class);

    private static final int FAULTS = Integer.getInteger("model.faults", 2);

    /** Takes a minute and a half. With {@code LIMITED}, where a handler that throws is no fault, it would take as long again. */
    @Tag("ci")
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "LIMITED")
    void everyInterleavingOfTwoFaultsKeepsTheRules(Mode mode) {
        explore(mode, FAULTS);
    }

    @ParameterizedTest
    @EnumSource
    void everyInterleavingKeepsTheRules(Mode mode) {
        explore(mode, 1);
    }

    private static void explore(Mode mode, int faults) {
        Exploration all = Explorer.explore(mode, Set.of(), new Bounds(faults, RECEIVES));

        log.info("{} with {} faults: {}", mode, faults, all);
        assertThat(all.isSafe()).as(all.toString()).isTrue();
        assertThat(all.states()).as("states, so that something was explored").isGreaterThan(1_000);
    }

    @ParameterizedTest
    @EnumSource
    void withoutThisGuardARuleIsBroken(Guard guard) {
        Counterexample found = counterexample(guard);

        log.info("Without {}: {}", guard, found);
        assertThat(found.exploration().isSafe())
                .as("a rule is broken without " + guard)
                .isFalse();
    }

    /** Searched for once. */
    private static Counterexample counterexample(Guard guard) {
        return FOUND.computeIfAbsent(guard, Counterexample::to);
    }

    @ParameterizedTest
    @EnumSource
    void guardIsAMethodOfTheEngine(Guard guard) throws ReflectiveOperationException {
        String[] names = guard.enforcer().split("#", 2);
        Class<?> enforcer = Class.forName(names[0], false, getClass().getClassLoader());
        URL tests = getClass().getProtectionDomain().getCodeSource().getLocation();

        assertThat(enforcer.getProtectionDomain().getCodeSource().getLocation()).isNotEqualTo(tests);
        assertThat(enforcer.getDeclaredMethods()).extracting(Method::getName).contains(names[1]);
    }

    @ParameterizedTest
    @EnumSource
    void everyGuardIsExplained(Guard guard) throws IOException {
        String row = "| `%s` | `%s` | ".formatted(guard, guard.shortEnforcer());

        assertThat(Files.readAllLines(PAGE).stream().filter(line -> line.startsWith(row)))
                .hasSize(1);
    }

    /** {@code -Dpages.write -Dtest=ProtocolModelTests} writes them. */
    @Test
    void documentationHasTheShortestCounterexamples() throws IOException {
        String written = Arrays.stream(Guard.values())
                .map(ProtocolModelTests::counterexample)
                .map(Counterexample::markdown)
                .collect(Collectors.joining("\n"));

        String page = Files.readString(PAGE);
        GeneratedPage.matches(PAGE, page.substring(0, page.indexOf("## `")) + written);
    }
}
