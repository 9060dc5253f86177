package io.exactlyonce.guarantees;

import static io.exactlyonce.guarantees.PropertyMetadata.text;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.autoconfigure.ExactlyOnceProperties;
import io.exactlyonce.dynamodb.autoconfigure.DynamoDbClaimProperties;
import io.exactlyonce.property.PropertyNameCheck;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import tools.jackson.databind.JsonNode;

/** Every property of the published modules refuses what it cannot mean, and says what it is instead. */
class WrongValueTests {

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties({ExactlyOnceProperties.class, DynamoDbClaimProperties.class})
    static class Settings {
        @Bean
        static PropertyNameCheck names(ConfigurableEnvironment environment) {
            return new PropertyNameCheck(environment);
        }
    }

    static Stream<Arguments> wrongValues() {
        return PropertyMetadata.read().properties().stream()
                .filter(property -> text(property, "name").startsWith("exactly-once."))
                .flatMap(property -> wrongFor(text(property, "type")).map(value -> Arguments.of(property, value)));
    }

    private static Stream<String> wrongFor(String type) {
        return switch (type) {
            case "java.lang.String" -> Stream.empty();
            case "java.time.Duration" ->
                Stream.of("", "soon", "-1s", "1ms", "30 seconds", "99999999999999999999d", "9223372036854775807d");
            case "org.springframework.util.unit.DataSize" ->
                Stream.of("", "much", "-1B", "64K", "99999999999999999999B");
            case "java.lang.Integer" -> Stream.of("", "many", "-1", "1.5", "99999999999");
            case "java.lang.Double" -> Stream.of("", "half", "-1", "NaN", "1e400");
            case "java.util.Set<java.lang.String>" -> Stream.of("nonsense");
            default -> Stream.of("", "nonsense");
        };
    }

    @ParameterizedTest
    @MethodSource("wrongValues")
    void wrongValueIsExplained(JsonNode property, String value) {
        AtomicReference<ConfigurableApplicationContext> started = new AtomicReference<>();
        AtomicReference<FailureAnalysis> analysis = new AtomicReference<>();

        new ApplicationContextRunner()
                .withUserConfiguration(Settings.class)
                .withInitializer(started::set)
                .withPropertyValues(text(property, "name") + "=" + value)
                .run(context -> {
                    assertThat(context).hasFailed();
                    analysis.set(analyze(
                            Objects.requireNonNull(context.getStartupFailure()),
                            Objects.requireNonNull(started.get())));
                });

        assertThat(analysis.get().getDescription())
                .startsWith(text(property, "name"))
                .contains(value.isEmpty() ? " is empty" : " must ")
                .doesNotContain("Exception");
        assertThat(analysis.get().getAction()).isNotBlank().doesNotContain("Exception");
    }

    /** As Spring Boot does: the first analysis that any registered analyzer makes. */
    private static FailureAnalysis analyze(Throwable failure, ConfigurableApplicationContext context) {
        ArgumentResolver arguments = ArgumentResolver.of(BeanFactory.class, context.getBeanFactory())
                .and(Environment.class, context.getEnvironment());
        return SpringFactoriesLoader.forDefaultResourceLocation()
                .load(FailureAnalyzer.class, arguments, (type, name, missing) -> {})
                .stream()
                .map(analyzer -> analyzer.analyze(failure))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseThrow(() -> new AssertionError("Nothing explains this failure", failure));
    }
}
