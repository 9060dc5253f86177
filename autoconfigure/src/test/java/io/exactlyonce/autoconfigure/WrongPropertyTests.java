package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.shop.ShopProperties;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.OutputCaptureExtension;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** The message for a wrong property: the value, the bound, and the remedy. Correct values cause no message. */
@ExtendWith(OutputCaptureExtension.class)
class WrongPropertyTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    ExactlyOnceAutoConfiguration.class,
                    ExactlyOnceObservabilityAutoConfiguration.class))
            .withPropertyValues("spring.datasource.url=jdbc:postgresql://127.0.0.1:1/nowhere");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // negative, too long, and a number that was meant as seconds
                "claim.lease=-5s | claim.lease (-5s) must be from 1s to 12h | with its unit, such as 1s",
                "claim.lease=30 | claim.lease (30ms) must be from 1s to 12h | 30 alone is 30 ms",
                "claim.lease=PT9223372036854775807S | claim.lease (9223372036854775807s) must be from | within these bounds",
                "renewal.at=1 | renewal.at (1.0) must be from 0.1 to 0.8 | within these bounds",
                "audit.silence=leases | audit.silence (leases) must name rules of the audit | choose among static-window",
                // the place of claims is never guessed
                "datasource.url= | datasource.url (which is empty) must begin with jdbc:postgresql: | remove it",
                "datasource.url=db.example.com | datasource.url (...) must begin with jdbc:postgresql: | jdbc:postgresql://host:port/database",
                "datasource.username=me | datasource.username and exactly-once.datasource.password are for exactly-once.datasource.url, which is missing | set it as well",
                "claim.store=dynamodb | claim.store is dynamodb, and its module is not on the class path | add io.exactlyonce:exactly-once-dynamodb",
                "mode=as-configured | mode (as-configured) refers to itself | set it to one of enforce, observe",
                "listeners.orders.mode=AS_CONFIGURED | listeners.orders.mode (as-configured) refers to itself | one of enforce, observe",
                "claim.on-mismatch=as-configured | claim.on-mismatch (as-configured) refers to itself | one of refuse, warn, off",
                "listeners.orders.on-mismatch=as-configured | listeners.orders.on-mismatch (as-configured) refers to itself | one of refuse, warn, off",
                // what does not go together
                "retry.initial-delay=10m | retry.max-delay (5m) must be at least exactly-once.retry.initial-delay (10m) | initial-delay to at most 5m",
                "claim.retention=2m | claim.retention (2m) must be at least exactly-once.retry.max-delay (5m) | retry.max-delay to at most 2m",
                "claim.retention=1h;claim.lease=2h | claim.retention (1h) must be at least exactly-once.claim.lease (2h) | to at least 2h",
                "listeners.orders.retention=1m | listeners.orders.retention (1m) must be at least exactly-once.listeners.orders.retry.max-delay (5m) | retry.max-delay to at most 1m",
                "listeners.orders.retry.max-delay=1s;retry.initial-delay=2s | listeners.orders.retry.max-delay (1s) must be at least exactly-once.listeners.orders.retry.initial-delay (2s) | initial-delay to at most 1s",
                "listeners.[Orders#0].lease=30 | listeners.Orders#0.lease (30ms) must be from 1s to 12h | 30 alone is 30 ms",
                "listeners.orders.lease=2s;datasource.connection-timeout=2s | listeners.orders.lease (2s) must be longer than exactly-once.datasource.connection-timeout (2s) | or raise the lease",
                "listeners.orders.lease=1m;listeners.order.mode=observe | has settings for ids that no @ExactlyOnceListener has (existing ids: none): order, orders (set by \"exactly-once.listeners.order.mode\" from property source \"test\") | give the listener this id",
                "claim.retention=1h;claim.cleanup.interval=2h | claim.retention (1h) must be at least exactly-once.claim.cleanup.interval (2h) | cleanup.interval to at most 1h",
            })
    void wrongValueIsExplainedWithBoundAndRemedy(String properties, String description, String action) {
        FailureAnalysis analysis = startWith(properties.split(";"));

        assertThat(analysis.getDescription()).contains("exactly-once.", description);
        assertThat(analysis.getAction()).contains(action);
        assertThat(analysis.getDescription() + analysis.getAction()).doesNotContain("Exception", "\tat ");
    }

    @ParameterizedTest
    @CsvSource({
        "claim.lease, soon",
        "claim.max-result-size, 64K",
        "renewal.at, half",
        "renewal.enabled, maybe",
        "claim.initialize-schema, true",
        "listeners.orders.mode, off",
        "listeners.orders.retry.max-delay, never",
        "claim.store, mysql"
    })
    void valueThatCannotBeReadIsExplainedBySpringBoot(String property, String value) {
        assertThat(startWith(property + "=" + value).getDescription())
                .contains("Property: exactly-once." + property)
                .contains("Value: \"" + value + "\"")
                .contains("Origin: ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "claim.retension=30d",
                "claims.retention=30d",
                "retention=30d",
                "enabled=false",
                "claim.lease.length=30s",
                "audit.silence.rule=lease",
                "audit=fail",
                "observation=true",
                "dynamodb.table-name=claims",
                "listeners.orders.retension=30d",
                "listeners.orders.claim.retention=30d"
            })
    void nameThatNothingReadsFailsStartup(String property) {
        FailureAnalysis analysis = startWith(property);

        assertThat(analysis.getDescription())
                .isEqualTo(
                        "Nothing reads exactly-once.%1$s (set by \"exactly-once.%1$s\" from property source \"test\")"
                                .formatted(property.substring(0, property.indexOf('='))));
        assertThat(analysis.getAction())
                .isEqualTo(
                        "correct the name, give it a value if it has none, or remove it (of a configuration that several"
                                + " versions share: exactly-once.unknown-properties=warn)");
    }

    /** A rollback must not fail because of a property of the newer version. */
    @Test
    void nameThatNothingReadsIsOnlyLoggedWhereVersionsShareTheirConfiguration(CapturedOutput output) {
        application
                .withPropertyValues(
                        "exactly-once.unknown-properties=warn",
                        "exactly-once.claim.ttl=30d",
                        "exactly-once.datasource.pasword=hunter2")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains(
                        "Nothing reads exactly-once.claim.ttl (set by \"exactly-once.claim.ttl\" from property source")
                .contains("exactly-once.datasource.pasword (set by")
                .doesNotContain("hunter2");
    }

    /** Several applications share a configuration, and each has only some of the listeners. */
    @Test
    void propertyOfAMissingListenerIsOnlyLoggedThere(CapturedOutput output) {
        application
                .withPropertyValues(
                        "exactly-once.unknown-properties=warn", "exactly-once.listeners.orders.retention=30d")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains(
                        "exactly-once.listeners has settings for ids that no @ExactlyOnceListener has (existing ids: none): orders");
    }

    /** Kubernetes sets the first variable for a service named {@code exactly-once}. */
    @Test
    void variablesOfTheEnvironmentMayHaveAnyName() {
        Map<String, Object> variables = Map.of(
                "EXACTLY_ONCE_SERVICE_HOST", "10.0.0.1",
                "EXACTLYONCE_CLAIM_RETENSION", "30d",
                "EXACTLYONCE_AUDIT_SILENCE_0", "lease",
                "EXACTLYONCE_RETRY_MAXWAITING", "5");

        in(variables).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(ExactlyOnceProperties.class).retry().maxWaiting())
                    .isEqualTo(5);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"jdbc:postgresql:", "jdbc:aws-wrapper:postgresql:", "jdbc:otel:postgresql:"})
    void driversAroundThatOfPostgresqlAreAccepted(String driver) {
        application
                .withPropertyValues("exactly-once.datasource.url=" + driver + "//127.0.0.1:1/claims")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void allWaysToWriteANameAreAccepted() {
        application
                .withPropertyValues(
                        "exactly-once.claim.onMismatch=warn",
                        "exactly-once.claim.max_result_size=1KB",
                        "exactlyOnce.retry.maxDelay=10m",
                        "EXACTLY-ONCE.RENEWAL.AT=0.4",
                        "exactly-once.audit.silence[0]=lease",
                        "exactly-once.audit.silence[1]=in-flight")
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** A YAML key whose lines are all comments has an empty value. */
    @ParameterizedTest
    @ValueSource(strings = {"claim", "claim.cleanup", "audit"})
    void emptyGroupIsNoMistake(String group) {
        application
                .withPropertyValues("exactly-once." + group + "=")
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** A template may produce an empty value. A known property then has nothing to read, either. */
    @ParameterizedTest
    @ValueSource(strings = {"claim.lease", "claim.retention", "mode"})
    void emptyValueFailsStartup(String property) {
        FailureAnalysis analysis = startWith(property + "=${nothing:}");

        assertThat(analysis.getDescription()).startsWith("Nothing reads exactly-once.%s (set by ".formatted(property));
        assertThat(analysis.getAction()).contains("give it a value if it has none");
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

    @EnableConfigurationProperties(ShopProperties.class)
    static class Shop {}

    /** A bean whose type is unknown before it is created, like beans of many libraries. */
    @SuppressWarnings("rawtypes")
    static class Clients implements FactoryBean {

        @Autowired
        private ConfigurableEnvironment injected;

        @Override
        public Object getObject() {
            return injected.getProperty("spring.application.name", "none");
        }

        @Override
        public Class<?> getObjectType() {
            return injected == null ? null : String.class;
        }
    }

    @Test
    void groupsOfTheApplicationAreLeftToIt() {
        application
                .withUserConfiguration(Shop.class)
                .withBean("clients", Clients.class)
                .withPropertyValues(
                        "exactly-once.shop.till.drawers=2",
                        "exactly-once.shop.class=small",
                        "exactly-once.shop.queues[0]=orders",
                        "exactly-once.shop.unknown=1",
                        "exactly-once-shop.url=x")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(ShopProperties.class).queues()).containsExactly("orders");
                    assertThat(context.getBean("clients")).isEqualTo("none");
                });
    }

    @Test
    void placeWhereItIsWrittenIsReported() {
        assertThat(FailureReport.of(in(Map.of("EXACTLYONCE_CLAIM_LEASE", "30"))).getDescription())
                .endsWith("(set by \"EXACTLYONCE_CLAIM_LEASE\" from property source \"systemEnvironment\")");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "datasource.url=jdbc:mysql://me:hunter2@db/shop;datasource.password=hunter2",
                "datasource.username=me;datasource.password=hunter2",
                "datasource.pasword=hunter2",
                "datasource.password.value=hunter2",
                "datasources.password=hunter2",
                "datasource=jdbc:postgresql://me:hunter2@db/shop",
                "datasource.url=jdbc:postgresql://me:hunter2@db/shop",
                "datasource.url=jdbc:postgresql://me:x?hunter2@db/shop",
                "datasource.url=jdbc:postgresql://me:1?hunter2@db/shop",
                "datasource.url=jdbc:postgresql://db/shop&password=hunter2",
                "datasource.url=jdbc:postgresql://db:hunter2/shop",
                "datasource.url=jdbc:postgresql://db/me/hunter2",
                "datasource.url=jdbc:postgresql://db/shop password=hunter2",
                "datasource.url=jdbc:postgresql://db/shop?user=me password hunter2",
                "datasource.url=jdbc:postgresql:me:hunter2@db/shop",
                "datasource.url=jdbc:aws-wrapper:postgresql://me:hunter2@db/shop"
            })
    void secretsAreNotReported(String properties) {
        FailureAnalysis analysis = startWith(properties.split(";"));

        assertThat(analysis.getDescription() + analysis.getAction())
                .contains("exactly-once.datasource")
                .doesNotContain("hunter2");
    }

    private FailureAnalysis startWith(String... properties) {
        return FailureReport.of(application.withPropertyValues(
                Arrays.stream(properties).map("exactly-once."::concat).toArray(String[]::new)));
    }

    private ApplicationContextRunner in(Map<String, Object> variables) {
        String name = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        return application.withInitializer(context -> context.getEnvironment()
                .getPropertySources()
                .replace(name, new SystemEnvironmentPropertySource(name, variables)));
    }
}
