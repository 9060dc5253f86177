package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** What a person reads who has written a property wrongly: the value, the bound, and what to do; and what is no mistake. */
@ExtendWith(OutputCaptureExtension.class)
class WrongPropertyTests {

    private final AtomicReference<ConfigurableApplicationContext> started = new AtomicReference<>();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataSourceAutoConfiguration.class, ExactlyOnceAutoConfiguration.class))
            .withInitializer(started::set)
            .withPropertyValues("spring.datasource.url=jdbc:postgresql://127.0.0.1:1/nowhere");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // zero, negative, too long, and a number that was meant to be seconds
                "claim.lease=0 | claim.lease (0s) must be from 1s to 43200s | 30 alone is 30 ms",
                "claim.lease=-5s | claim.lease (-5s) must be from 1s to 43200s | with its unit, such as 1s",
                "claim.lease=30 | claim.lease (30ms) must be from 1s to 43200s | 30 alone is 30 ms",
                "claim.lease=PT9223372036854775807S | claim.lease (9223372036854775807s) must be from | within these bounds",
                "claim.retention=0 | claim.retention (0s) must be from 60s to 315360000s | with its unit",
                "claim.cleanup.interval=60 | claim.cleanup.interval (60ms) must be from 1s to 86400s | with its unit",
                "claim.coalescing.patience=3 | claim.coalescing.patience (3ms) must be from 100ms to 60s | with its unit",
                "datasource.replica-lag-interval=10 | replica-lag-interval (10ms) must be from 1s to 3600s | with its unit",
                "retry.initial-delay=0 | retry.initial-delay (0s) must be from 1s to 43200s | with its unit",
                "retry.max-delay=300 | retry.max-delay (300ms) must be from 1s to 43200s | with its unit",
                "claim.max-result-size=-1B | claim.max-result-size (-1B) must be from 0B to 16777216B | such as 64KB",
                "datasource.maximum-pool-size=0 | datasource.maximum-pool-size (0) must be from 2 to 1000 | within these bounds",
                "renewal.at=1 | renewal.at (1.0) must be from 0.1 to 0.8 | within these bounds",
                // what cannot be read
                "claim.lease=soon | claim.lease ('soon') must be a number with its unit, such as 500ms, 30s, 5m | from 1s to 12h",
                "claim.lease=30 seconds | claim.lease ('30 seconds') must be a number with its unit | from 1s to 12h",
                "claim.retention=1w | claim.retention ('1w') must be a number with its unit | from 1m to 3650d",
                "claim.retention=99999999999999999999d | must be a number with its unit | from 1m to 3650d",
                "claim.retention=9223372036854775807d | must be a number with its unit | from 1m to 3650d",
                "claim.max-result-size=64K | claim.max-result-size ('64K') must be a number with its unit, such as 64KB | from 0B to 16MB",
                "renewal.retries=99999999999 | renewal.retries ('99999999999') must be a whole number | from 1 to 10",
                "renewal.retries=2.5 | renewal.retries ('2.5') must be a whole number | from 1 to 10",
                "renewal.at=half | renewal.at ('half') must be a number such as 0.5 | from 0.1 to 0.8",
                "renewal.enabled=maybe | renewal.enabled ('maybe') must be true or false | remove it for its default",
                "claim.store=mysql | claim.store ('mysql') must be one of postgresql, dynamodb | Where claims are kept",
                "claim.on-mismatch=ignore | claim.on-mismatch ('ignore') must be one of refuse, warn, off | another payload",
                "claim.synchronous-commit=off | claim.synchronous-commit ('off') must be one of on, remote_apply, remote_write, local | Disks",
                "claim.initialize-schema=sometimes | must be one of always, embedded, never | remove it",
                "audit.mode=strict | audit.mode ('strict') must be one of fail, warn, off | remove it",
                "audit.silence=leases | audit.silence (leases) must name rules of the audit | choose among static-window",
                // where claims are kept is never guessed
                "datasource.url= | datasource.url (which is empty) must begin with jdbc:postgresql: | remove it",
                "datasource.url=db.example.com | datasource.url (...) must begin with jdbc:postgresql: | jdbc:postgresql://host:port/database",
                "datasource.username=me | datasource.username and exactly-once.datasource.password are for exactly-once.datasource.url, which is missing | set it as well",
                "claim.store=dynamodb | claim.store is dynamodb, and its module is not on the class path | add io.exactlyonce:exactly-once-dynamodb",
                // what does not go together
                "retry.initial-delay=10m | retry.max-delay (300s) must be at least exactly-once.retry.initial-delay (600s) | initial-delay to at most 300s",
                "claim.retention=2m | claim.retention (120s) must be at least exactly-once.retry.max-delay (300s) | retry.max-delay to at most 120s",
                "claim.retention=1h;claim.lease=2h | claim.retention (3600s) must be at least exactly-once.claim.lease (7200s) | to at least 7200s",
                "claim.retention=1h;claim.cleanup.interval=2h | claim.retention (3600s) must be at least exactly-once.claim.cleanup.interval (7200s) | cleanup.interval to at most 3600s",
            })
    void wrongValueIsExplainedWithBoundAndRemedy(String properties, String description, String action) {
        FailureAnalysis analysis = startWith(properties.split(";"));

        assertThat(analysis.getDescription()).contains("exactly-once.", description);
        assertThat(analysis.getAction()).contains(action);
        assertThat(analysis.getDescription() + analysis.getAction()).doesNotContain("Exception", "\tat ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "claim.retension=30d | did you mean exactly-once.claim.retention?",
                "claims.retention=30d | did you mean exactly-once.claim.retention?",
                "retention=30d | did you mean exactly-once.claim.retention?",
                "renewel.enabled=false | did you mean exactly-once.renewal.enabled?",
                "claim.ttl=30d | exactly-once.claim has cleanup, coalescing, initialize-schema, lease",
                "claim.cleanup.every=30d | exactly-once.claim.cleanup has batch-size, enabled, interval",
                "claim.lease.length=30s | exactly-once.claim has",
                "audit.silence.rule=lease | exactly-once.audit has mode, silence",
                "mode.of.listener=observe | exactly-once.mode has no properties of its own"
            })
    void nameThatNothingReadsIsExplainedWithTheOneThatWasMeant(String property, String action) {
        FailureAnalysis analysis = startWith(property);

        assertThat(analysis.getDescription())
                .contains("exactly-once." + property.substring(0, property.indexOf('=')))
                .contains("is no property that is known");
        assertThat(analysis.getAction()).contains(action).contains("exactly-once.unknown-properties=warn");
    }

    /** A rollback must not fail for what the newer version is told. */
    @Test
    void nameThatNothingReadsIsOnlyWarnedOfWhereVersionsShareTheirConfiguration(CapturedOutput output) {
        application
                .withPropertyValues("exactly-once.unknown-properties=warn", "exactly-once.claim.ttl=30d")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("exactly-once.claim.ttl is no property that is known: exactly-once.claim has cleanup");
    }

    @ParameterizedTest
    @CsvSource({
        "EXACTLYONCE_CLAIM_RETENSION, EXACTLYONCE_CLAIM_RETENTION",
        "EXACTLY_ONCE_CLAIM_RETENTON, EXACTLYONCE_CLAIM_RETENTION",
        "EXACTLYONCE_RETRY_MAX_DELAYS, EXACTLYONCE_RETRY_MAXDELAY"
    })
    void misspeltVariableOfTheEnvironmentIsWarnedOf(String variable, String meant, CapturedOutput output) {
        in(Map.of(variable, "30d")).run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("does not read the environment's " + variable + "; did you mean " + meant);
    }

    /** It may as well be the application's own, and nothing tells which of ours is meant. */
    @Test
    void nameThatMayBeOneOfSeveralIsWarnedOf(CapturedOutput output) {
        application
                .withPropertyValues("exactly-once.enabled=false")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("does not read exactly-once.enabled; it reads [exactly-once.claim.cleanup.enabled,");
    }

    /** Those of Kubernetes are for services named {@code exactly-once} and {@code exactly-once-claims}. */
    @Test
    void variablesThatAreNoMistakesAreLeftAlone() {
        Map<String, Object> variables = new HashMap<>();
        for (String unknown : new String[] {
            "EXACTLY_ONCE_SERVICE_HOST",
            "EXACTLY_ONCE_PORT",
            "EXACTLY_ONCE_PORT_8080_TCP_ADDR",
            "EXACTLYONCE_IMAGE",
            "EXACTLY_ONCE_CLAIMS_PORT",
            "EXACTLY_ONCE_CLAIMS_SERVICE_PORT"
        }) {
            variables.put(unknown, "10.0.0.1");
        }
        variables.put("EXACTLYONCE_CLAIM_ONMISMATCH", "warn");
        variables.put("EXACTLY_ONCE_RENEWAL_RETRIES", "5");
        variables.put("EXACTLYONCE_AUDIT_SILENCE_0", "lease");

        in(variables).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(ExactlyOnceProperties.class).renewal().retries())
                    .isEqualTo(5);
        });
    }

    @Test
    void allWaysToWriteANameAreAccepted() {
        application
                .withPropertyValues(
                        "exactly-once.claim.onMismatch=warn",
                        "exactly-once.claim.max_result_size=1KB",
                        "exactlyOnce.retry.maxDelay=10m",
                        "EXACTLY-ONCE.RENEWAL.RETRIES=5",
                        "exactly-once.audit.silence[0]=lease",
                        "exactly-once.audit.silence[1]=in-flight")
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** Spring would pass over it, and renew as always. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "renewal=false | exactly-once.renewal has at, enabled, jitter, retries",
                "audit=off | exactly-once.audit has mode, silence",
                "claim.cleanup=1h | exactly-once.claim.cleanup has batch-size, enabled, interval",
                "datasource=jdbc:postgresql://me:secret@db/shop | exactly-once.datasource has connection-timeout, maximum-pool-size, password"
            })
    void valueOfAGroupIsExplainedWithWhatIsInIt(String property, String action) {
        FailureAnalysis analysis = startWith(property);

        assertThat(analysis.getDescription())
                .startsWith("exactly-once." + property.substring(0, property.indexOf('=')) + " must have no value")
                .doesNotContain("secret@");
        assertThat(analysis.getAction()).contains(action);
    }

    /** A heading in YAML, all of whose lines are comments, is an empty value. */
    @ParameterizedTest
    @ValueSource(strings = {"claim", "claim.cleanup", "datasource", "audit"})
    void emptyGroupIsNoMistake(String group) {
        application
                .withPropertyValues("exactly-once." + group + "=")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "claim.lease=",
                "claim.retention=${NOWHERE:}",
                "claim.store=",
                "claim.max-result-size=",
                "renewal.retries=",
                "renewal.enabled= ",
                "renewal.at=${NOWHERE:}"
            })
    void emptyValueIsNoDefault(String property) {
        FailureAnalysis analysis = startWith(property);

        assertThat(analysis.getDescription())
                .startsWith("exactly-once." + property.substring(0, property.indexOf('=')) + " is empty (set by ");
        assertThat(analysis.getAction()).isEqualTo("give it a value, or remove it for its default");
    }

    @Test
    void emptyListPasswordAndWhatIsSetElsewhereAreNoMistakes() {
        application
                .withPropertyValues(
                        "exactly-once.audit.silence=",
                        "exactly-once.datasource.url=jdbc:postgresql://127.0.0.1:1/claims",
                        "exactly-once.datasource.username=claims",
                        "exactly-once.datasource.password=",
                        "exactly-once.claim.lease=40s")
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addLast(new MapPropertySource("defaults", Map.of("exactly-once.claim.lease", ""))))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ConfigurationProperties("exactly-once.shop")
    record Shop(String queue) {}

    @Configuration(proxyBeanMethods = false)
    static class ApplicationsOwn {
        @Bean
        Shop shop() {
            return new Shop("orders");
        }
    }

    @Test
    void applicationsOwnNamesAreLeftAlone() {
        application
                .withUserConfiguration(ApplicationsOwn.class)
                .withPropertyValues(
                        "exactly-once.shop.queue=orders",
                        "exactly-once.queues.orders=orders-prod",
                        "exactly-once.dynamodb.table-name=claims",
                        "exactly-once-shop.url=x")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void placeWhereItIsWrittenIsTold() {
        assertThat(startIn(Map.of("EXACTLYONCE_CLAIM_LEASE", "30")).getDescription())
                .endsWith("(set by \"EXACTLYONCE_CLAIM_LEASE\" from property source \"systemEnvironment\")");
        assertThat(startIn(Map.of("EXACTLYONCE_CLAIM_LEASE", "soon")).getDescription())
                .endsWith("(set by \"EXACTLYONCE_CLAIM_LEASE\" from property source \"systemEnvironment\")");
    }

    @Test
    void secretsAreNotTold() {
        FailureAnalysis analysis =
                startWith("datasource.url=jdbc:mysql://me:secret@db/shop", "datasource.password=secret");

        assertThat(analysis.getDescription() + analysis.getAction()).doesNotContain("secret");
    }

    private FailureAnalysis startWith(String... properties) {
        return failure(application.withPropertyValues(
                Arrays.stream(properties).map("exactly-once."::concat).toArray(String[]::new)));
    }

    private FailureAnalysis startIn(Map<String, Object> variables) {
        return failure(in(variables));
    }

    private ApplicationContextRunner in(Map<String, Object> variables) {
        String name = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        return application.withInitializer(context -> context.getEnvironment()
                .getPropertySources()
                .replace(name, new SystemEnvironmentPropertySource(name, variables)));
    }

    private FailureAnalysis failure(ApplicationContextRunner runner) {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        runner.run(context -> failure.set(context.getStartupFailure()));
        assertThat(failure.get()).isNotNull();
        return FailureReport.of(failure.get(), started.get());
    }
}
