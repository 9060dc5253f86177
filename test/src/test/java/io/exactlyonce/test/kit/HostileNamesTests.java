package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.test.fuzz.FailureReport;
import io.exactlyonce.test.fuzz.Fuzz;
import io.exactlyonce.test.fuzz.HostileText;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.ConfigurationPropertiesAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.MapPropertySource;

/**
 * Random names of listeners. The listener works under its name, or startup fails and explains why the name is refused.
 */
class HostileNamesTests {

    private static final String QUEUE_CHARACTERS = "abcXYZ019-_";

    /** @param scope the scope, or a blank text if the scope is the queue's name */
    record Names(String listener, String queue, String scope) {
        @Override
        public String toString() {
            return "listener %s on queue %s with scope %s"
                    .formatted(HostileText.shown(listener), HostileText.shown(queue), HostileText.shown(scope));
        }
    }

    static class Shop {

        @ExactlyOnceListener(id = "${names.listener}", queueNames = "${names.queue}", scope = "${names.scope}")
        String sell(String body, Claim claim) {
            claim.ensureHeld();
            return body;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @AutoConfigureExactlyOnceDriver
    @Import(Shop.class)
    static class Application {}

    @Test
    void listenerOfAnyNamesWorksOrIsExplained() {
        Fuzz.check(6, HostileNamesTests::any, names -> names.forEach(HostileNamesTests::check));
    }

    private static List<Names> any(RandomGenerator random) {
        return List.of(new Names(name(random), queue(random), name(random)));
    }

    /** Draws a name without placeholders, because Spring replaces placeholders with values of the application. */
    private static String name(RandomGenerator random) {
        return HostileText.any(random).replace("{", "(");
    }

    private static String queue(RandomGenerator random) {
        boolean isFifo = random.nextInt(4) == 0;
        int length = HostileText.pick(random, List.of(1, 2, isFifo ? 75 : 80));
        return random.ints(length, 0, QUEUE_CHARACTERS.length())
                        .mapToObj(at -> String.valueOf(QUEUE_CHARACTERS.charAt(at)))
                        .reduce("", String::concat)
                + (isFifo ? ".fifo" : "");
    }

    private static void check(Names names) {
        AtomicReference<ConfigurableApplicationContext> started = new AtomicReference<>();
        Map<String, Object> properties = Map.of(
                "names.listener",
                names.listener(),
                "names.queue",
                names.queue(),
                "names.scope",
                names.scope(),
                "exactly-once.audit.mode",
                "off",
                "spring.cloud.aws.sqs.listener.poll-timeout",
                "1s",
                "spring.cloud.aws.sqs.listener.max-delay-between-polls",
                "10ms");
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ConfigurationPropertiesAutoConfiguration.class, PropertyPlaceholderAutoConfiguration.class))
                .withUserConfiguration(Application.class)
                .withInitializer(started::set)
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("names", properties)))
                .run(context -> {
                    Throwable failure = context.getStartupFailure();
                    if (failure == null) {
                        assertWorks(context.getBean(ExactlyOnceDriver.class));
                    } else {
                        assertExplains(FailureReport.of(failure, Objects.requireNonNull(started.get())));
                    }
                });
    }

    private static void assertWorks(ExactlyOnceDriver driver) {
        Delivered first = driver.deliver(TestMessage.ofBody("A-1").group("a"));

        assertThat(first).wasHandled();
        assertThat(driver.redeliver(first)).wasSuppressed();
    }

    private static void assertExplains(FailureAnalysis analysis) {
        assertThat(analysis.getDescription()).isNotBlank().doesNotContain("Exception");
        assertThat(analysis.getAction()).isNotBlank();
    }
}
