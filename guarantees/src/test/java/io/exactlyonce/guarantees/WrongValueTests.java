package io.exactlyonce.guarantees;

import static io.exactlyonce.guarantees.PropertyMetadata.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.autoconfigure.AuditProperties;
import io.exactlyonce.autoconfigure.ExactlyOnceProperties;
import io.exactlyonce.autoconfigure.ObservationProperties;
import io.exactlyonce.dynamodb.autoconfigure.DynamoDbClaimProperties;
import io.exactlyonce.property.UnknownProperties;
import io.exactlyonce.test.fuzz.FailureReport;
import io.exactlyonce.test.fuzz.Fuzz;
import io.exactlyonce.test.fuzz.HostileText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import tools.jackson.databind.JsonNode;

/** Every property of the published modules refuses wrong values, with a message that names the permitted ones. */
class WrongValueTests {

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties({
        ExactlyOnceProperties.class,
        AuditProperties.class,
        ObservationProperties.class,
        DynamoDbClaimProperties.class
    })
    static class Settings {
        @Bean
        static UnknownProperties names(ConfigurableEnvironment environment) {
            return new UnknownProperties(environment, "exactly-once", ExactlyOnceProperties.class, Set.of());
        }

        @Bean
        static UnknownProperties namesOfAudit(ConfigurableEnvironment environment) {
            return new UnknownProperties(environment, "exactly-once.audit", AuditProperties.class, Set.of());
        }

        @Bean
        static UnknownProperties namesOfObservation(ConfigurableEnvironment environment) {
            return new UnknownProperties(
                    environment, "exactly-once.observation", ObservationProperties.class, Set.of());
        }

        @Bean
        static UnknownProperties namesOfTheTable(ConfigurableEnvironment environment) {
            return new UnknownProperties(environment, "exactly-once.dynamodb", DynamoDbClaimProperties.class, Set.of());
        }
    }

    /**
     * A line of a property file.
     *
     * @param isWrong whether startup must fail because of this line, whatever the other lines are
     */
    record Line(String name, String value, boolean isWrong) {}

    static Stream<JsonNode> properties() {
        return PropertyMetadata.read().properties().stream()
                .filter(property -> text(property, "name").startsWith("exactly-once."));
    }

    static Stream<Arguments> wrongValues() {
        return properties().flatMap(property -> WrongValues.of(property).map(value -> Arguments.of(property, value)));
    }

    @ParameterizedTest
    @MethodSource("wrongValues")
    void wrongValueIsExplained(JsonNode property, String value) {
        FailureAnalysis analysis =
                start(List.of(new Line(text(property, "name"), value, true))).orElseThrow();

        assertThat(analysis.getDescription()).contains(text(property, "name"));
        assertExplains(analysis);
    }

    /** {@link WrongValues} must have values for each new kind of text that does not accept every value. */
    @Test
    void ofEveryPropertyItIsKnownWhatItMustNotBe() {
        assertThat(properties().filter(WrongValues::isUnknown)).isEmpty();
        assertThat(properties().map(property -> text(property, "name"))).containsAll(WrongValues.FREE_TEXTS);
    }

    static Stream<String> groups() {
        return PropertyMetadata.read().groups().stream()
                .map(group -> text(group, "name"))
                .filter(name -> name.startsWith("exactly-once."))
                .distinct();
    }

    /** The value may be a URL with a password. Spring Boot does not use such values, and refuses most of them. */
    @ParameterizedTest
    @MethodSource("groups")
    void valueOfAGroupIsNotReported(String group) {
        start(List.of(new Line(group, "hunter2", false))).ifPresent(analysis -> {
            assertThat(analysis.getDescription()).contains(group);
            assertExplains(analysis);
        });
    }

    @ParameterizedTest
    @MethodSource("properties")
    void propertyHasNoPropertiesOfItsOwn(JsonNode property) {
        String name = text(property, "name") + ".more";

        assertThat(start(List.of(new Line(name, "1", true))).map(FailureAnalysis::getDescription))
                .hasValueSatisfying(description -> assertThat(description).contains(text(property, "name")));
    }

    /** Two lines may contradict each other, although each alone is valid. */
    @Test
    void anyFileIsReadOrExplained() {
        List<JsonNode> all = properties().toList();

        Fuzz.check(95, random -> lines(random, all), lines -> {
            Optional<FailureAnalysis> explained = start(lines);

            explained.ifPresent(WrongValueTests::assertExplains);
            explained.ifPresent(analysis -> assertThat(analysis.getDescription())
                    .as("names one of the lines")
                    .containsAnyOf(lines.stream().map(Line::name).toArray(String[]::new)));
            assertThat(explained.isPresent() || lines.stream().noneMatch(Line::isWrong))
                    .as("whether what is wrong stops the start")
                    .isTrue();
        });
    }

    private static List<Line> lines(RandomGenerator random, List<JsonNode> all) {
        return random.ints(1 + random.nextInt(6), 0, all.size())
                .distinct()
                .mapToObj(all::get)
                .map(property -> line(random, property))
                .toList();
    }

    private static Line line(RandomGenerator random, JsonNode property) {
        String name = text(property, "name");
        List<String> right = WrongValues.atBounds(property).toList();
        List<String> wrong = WrongValues.of(property).toList();
        if (WrongValues.FREE_TEXTS.contains(name)) {
            return new Line(name, HostileText.any(random) + "hunter2", false);
        }
        boolean isWrong = right.isEmpty() || random.nextInt(8) == 0;
        return new Line(name, HostileText.pick(random, isWrong ? wrong : right), isWrong);
    }

    private static void assertExplains(FailureAnalysis analysis) {
        assertThat(analysis.getDescription())
                .contains("exactly-once.")
                .doesNotContain("hunter2", "\tat ")
                .hasSizeLessThan(1_500);
        assertThat(analysis.getAction()).isNotBlank().doesNotContain("hunter2");
    }

    /** Returns the message of a failed startup; empty if startup succeeded. */
    private static Optional<FailureAnalysis> start(List<Line> lines) {
        AtomicReference<ConfigurableApplicationContext> started = new AtomicReference<>();
        AtomicReference<FailureAnalysis> analysis = new AtomicReference<>();
        Map<String, Object> file = new LinkedHashMap<>();
        lines.forEach(line -> file.put(line.name(), line.value()));

        new ApplicationContextRunner()
                .withUserConfiguration(Settings.class)
                .withInitializer(started::set)
                .withInitializer(context ->
                        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("file", file)))
                .run(context -> {
                    Throwable failure = context.getStartupFailure();
                    if (failure != null) {
                        analysis.set(FailureReport.of(failure, Objects.requireNonNull(started.get())));
                    }
                });
        return Optional.ofNullable(analysis.get());
    }
}
