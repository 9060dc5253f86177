package io.exactlyonce.dynamodb.autoconfigure;

import io.awspring.cloud.autoconfigure.AwsAsyncClientCustomizer;
import io.awspring.cloud.autoconfigure.core.AwsAutoConfiguration;
import io.awspring.cloud.autoconfigure.core.AwsClientBuilderConfigurer;
import io.awspring.cloud.autoconfigure.core.AwsConnectionDetails;
import io.awspring.cloud.autoconfigure.dynamodb.DynamoDbProperties;
import io.exactlyonce.autoconfigure.ExactlyOnceAutoConfiguration;
import io.exactlyonce.autoconfigure.ExactlyOnceProperties;
import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.groupcommit.GroupCommitSettings;
import io.exactlyonce.dynamodb.DynamoDbClaimStore;
import io.exactlyonce.dynamodb.DynamoDbClaims;
import io.exactlyonce.dynamodb.DynamoDbCompletion;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.clock.ServiceClock;
import io.exactlyonce.dynamodb.request.Pauses;
import io.exactlyonce.dynamodb.request.ThrottledRequests;
import io.exactlyonce.dynamodb.request.ThrottledRequests.Reason;
import io.exactlyonce.dynamodb.table.ClaimTableException;
import io.exactlyonce.property.UnknownProperties;
import io.exactlyonce.time.EngineScheduler;
import io.exactlyonce.time.SystemScheduler;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.ConfigurableEnvironment;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

/**
 * Stores claims in DynamoDB if {@code exactly-once.claim.store=dynamodb}. No DataSource is needed.
 *
 * <p>The properties {@code exactly-once.dynamodb.*} are always read, so that they are not reported as unknown. With
 * another store, for example in tests, they have no effect.
 */
@AutoConfiguration(before = ExactlyOnceAutoConfiguration.class, after = AwsAutoConfiguration.class)
@EnableConfigurationProperties(DynamoDbClaimProperties.class)
public final class DynamoDbClaimsAutoConfiguration {

    static final String STORE_PROPERTY = "exactly-once.claim.store";
    static final String STORE = "dynamodb";

    /**
     * Bean name of the DynamoDB client for claims. Only responses to this client are used to measure DynamoDB's clock.
     */
    static final String CLIENT = "exactlyOnceDynamoDbClient";

    /** Timeout of one attempt of a request. The SDK then sends the request again, before the lease expires. */
    private static final Duration ATTEMPT = Duration.ofSeconds(3);

    private static final Duration CALL = Duration.ofSeconds(10);

    private static final String BUSY =
            "see whether DynamoDB throttles the table (exactly.once.dynamodb.throttled), and raise its throughput or lower"
                    + " the concurrency of listeners";

    @Bean
    static UnknownProperties exactlyOnceUnknownTableProperties(ConfigurableEnvironment environment) {
        return new UnknownProperties(environment, "exactly-once.dynamodb", DynamoDbClaimProperties.class, Set.of());
    }

    /** This configuration is processed first, because {@code Meters} needs its beans. */
    @Order(0)
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = STORE_PROPERTY, havingValue = STORE)
    @ConditionalOnMissingBean(ClaimStore.class)
    @EnableConfigurationProperties({DynamoDbProperties.class, ExactlyOnceProperties.class})
    static class Claims {

        @Bean
        ServiceClock exactlyOnceServiceClock(DynamoDbClaimProperties properties) {
            return new ServiceClock(System::nanoTime, properties.clockError());
        }

        @Bean
        ThrottledRequests exactlyOnceThrottledRequests() {
            return new ThrottledRequests();
        }

        /**
         * Makes the DynamoDB client for claims. The client is not injected by type, so it does not compete with the
         * application's own client.
         */
        @Bean(name = CLIENT, defaultCandidate = false)
        DynamoDbAsyncClient exactlyOnceDynamoDbClient(
                AwsClientBuilderConfigurer configurer,
                DynamoDbProperties properties,
                ObjectProvider<AwsConnectionDetails> connection,
                ObjectProvider<AwsAsyncClientCustomizer> customizers,
                ServiceClock clock,
                ThrottledRequests throttled) {
            var builder = configurer.configureAsyncClient(
                    DynamoDbAsyncClient.builder(),
                    properties,
                    connection.getIfAvailable(),
                    Stream.empty(),
                    customizers.orderedStream());
            return builder.overrideConfiguration(builder.overrideConfiguration().toBuilder()
                            .apiCallAttemptTimeout(ATTEMPT)
                            .apiCallTimeout(CALL)
                            .addExecutionInterceptor(clock)
                            .addExecutionInterceptor(throttled)
                            .build())
                    .build();
        }

        @Bean
        DynamoDbClaims exactlyOnceDynamoDbClaims(
                @Qualifier(CLIENT) DynamoDbAsyncClient client,
                DynamoDbClaimProperties properties,
                ExactlyOnceProperties exactlyOnce,
                ServiceClock clock,
                ObjectProvider<EngineScheduler> scheduler) {
            requireStorable(exactlyOnce);
            return new DynamoDbClaims(
                    client,
                    properties.tableName(),
                    exactlyOnce.claim().retention(),
                    new LeaseClock(clock, properties.clock(), properties.clockError(), System::nanoTime),
                    Pauses.withFullJitter(scheduler.getIfAvailable(SystemScheduler::new)));
        }

        private static void requireStorable(ExactlyOnceProperties properties) {
            long largest = properties.claim().maxResultSize().toBytes();
            if (largest > DynamoDbClaimStore.LARGEST_RESULT) {
                throw new ClaimTableException(
                        "exactly-once.claim.max-result-size (%d bytes) is more than an item of DynamoDB can hold, %d bytes"
                                .formatted(largest, DynamoDbClaimStore.LARGEST_RESULT),
                        "set it to at most 380KB, and keep larger results elsewhere",
                        null);
            }
        }

        @Bean
        ClaimStore exactlyOnceClaimStore(DynamoDbClaims claims) {
            return claims.store();
        }

        @Bean
        GroupCommitSettings exactlyOnceGroupCommit() {
            GroupCommitSettings usual = GroupCommitSettings.USUAL;
            return new GroupCommitSettings(
                    usual.flushers(), DynamoDbClaimStore.LARGEST_BATCH, usual.queueTimeout(), BUSY);
        }

        @Bean
        ClaimBackend exactlyOnceClaimBackend(
                @Qualifier(CLIENT) DynamoDbAsyncClient client,
                DynamoDbClaimProperties properties,
                DynamoDbClaims claims,
                ServiceClock clock) {
            return new DynamoDbClaimBackend(client, properties, claims, clock);
        }

        @Bean
        @ConditionalOnMissingBean
        ParkedClaims exactlyOnceParkedClaims(DynamoDbClaims claims) {
            return claims.parked();
        }

        @Bean
        @ConditionalOnMissingBean
        DynamoDbCompletion exactlyOnceDynamoDbCompletion(DynamoDbClaims claims) {
            return claims.completion();
        }
    }

    /** Meters for throttled requests, and for the uncertainty of DynamoDB's clock. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({MeterRegistry.class, MeterBinder.class})
    @ConditionalOnBean(DynamoDbClaims.class)
    static class Meters {

        @Bean
        MeterBinder exactlyOnceDynamoDbMeters(ServiceClock clock, ThrottledRequests throttled) {
            return registry -> {
                Gauge.builder("exactly.once.dynamodb.clock.uncertainty", clock, Meters::uncertainty)
                        .baseUnit("seconds")
                        .description("Uncertainty of DynamoDB's time; NaN while it is not measured")
                        .register(registry);
                for (Reason reason : Reason.values()) {
                    FunctionCounter.builder(
                                    "exactly.once.dynamodb.throttled", throttled, requests -> requests.count(reason))
                            .tag("reason", reason.name().toLowerCase(Locale.ROOT))
                            .description(
                                    "Throttled by DynamoDB: throughput and limit (statements), unread (keys), request (given up by the SDK)")
                            .register(registry);
                }
            };
        }

        private static double uncertainty(ServiceClock clock) {
            return clock.uncertaintySeconds().orElse(Double.NaN);
        }
    }
}
