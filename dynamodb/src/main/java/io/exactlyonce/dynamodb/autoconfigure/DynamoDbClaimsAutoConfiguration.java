package io.exactlyonce.dynamodb.autoconfigure;

import io.awspring.cloud.autoconfigure.AwsAsyncClientCustomizer;
import io.awspring.cloud.autoconfigure.core.AwsAutoConfiguration;
import io.awspring.cloud.autoconfigure.core.AwsClientBuilderConfigurer;
import io.awspring.cloud.autoconfigure.core.AwsConnectionDetails;
import io.awspring.cloud.autoconfigure.dynamodb.DynamoDbProperties;
import io.exactlyonce.autoconfigure.ExactlyOnceAutoConfiguration;
import io.exactlyonce.autoconfigure.ExactlyOnceProperties;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.coalescing.CoalescingClaimStore;
import io.exactlyonce.claim.coalescing.CoalescingSettings;
import io.exactlyonce.dynamodb.DynamoDbClaimStore;
import io.exactlyonce.dynamodb.DynamoDbClaims;
import io.exactlyonce.dynamodb.DynamoDbCompletion;
import io.exactlyonce.dynamodb.clock.DateInterceptor;
import io.exactlyonce.dynamodb.clock.ServiceClock;
import io.exactlyonce.dynamodb.request.Pauses;
import io.exactlyonce.dynamodb.request.ThrottledRequests;
import io.exactlyonce.dynamodb.table.ClaimTableException;
import io.exactlyonce.listener.container.StartLine;
import io.exactlyonce.time.Jitter;
import java.time.Duration;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

/** Keeps claims in DynamoDB, where {@code exactly-once.claim.store=dynamodb} says so. No DataSource is needed then. */
@AutoConfiguration(before = ExactlyOnceAutoConfiguration.class, after = AwsAutoConfiguration.class)
@ConditionalOnProperty(
        name = DynamoDbClaimsAutoConfiguration.STORE_PROPERTY,
        havingValue = DynamoDbClaimsAutoConfiguration.STORE)
@ConditionalOnMissingBean(ClaimStore.class)
@EnableConfigurationProperties({DynamoDbClaimProperties.class, DynamoDbProperties.class, ExactlyOnceProperties.class})
public final class DynamoDbClaimsAutoConfiguration {

    static final String STORE_PROPERTY = "exactly-once.claim.store";
    static final String STORE = "dynamodb";

    /** Bean of the client that claims use. Others are not measured by its answers' dates. */
    static final String CLIENT = "exactlyOnceDynamoDbClient";

    /** Longer than any answer takes: what is not there by then is asked again, and a lease must not run out over it. */
    private static final Duration ATTEMPT = Duration.ofSeconds(3);

    private static final Duration CALL = Duration.ofSeconds(10);

    @Bean
    ServiceClock exactlyOnceServiceClock(DynamoDbClaimProperties properties) {
        return new ServiceClock(System::nanoTime, properties.clockError());
    }

    @Bean
    ThrottledRequests exactlyOnceThrottledRequests() {
        return new ThrottledRequests();
    }

    /** No candidate for injection: an application's own client stays the only one. */
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
                        .addExecutionInterceptor(new DateInterceptor(clock, System::nanoTime))
                        .addExecutionInterceptor(throttled)
                        .build())
                .build();
    }

    @Bean
    DynamoDbClaims exactlyOnceDynamoDbClaims(
            @Qualifier(CLIENT) DynamoDbAsyncClient client,
            DynamoDbClaimProperties properties,
            ExactlyOnceProperties exactlyOnce,
            ServiceClock clock) {
        requireStorable(exactlyOnce);
        return new DynamoDbClaims(
                client,
                new DynamoDbClaims.Settings(
                        properties.tableName(),
                        exactlyOnce.claim().retention(),
                        properties.clock(),
                        properties.clockError()),
                clock,
                System::nanoTime,
                Pauses.real(Jitter.RANDOM));
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

    /** Also where other beans are lazy: a table that cannot keep claims stops the start, unless listeners are only observed. */
    @Bean
    @Lazy(false)
    TableCheck exactlyOnceTableCheck(
            @Qualifier(CLIENT) DynamoDbAsyncClient client,
            DynamoDbClaimProperties properties,
            ExactlyOnceProperties exactlyOnce) {
        return new TableCheck(client, properties, exactlyOnce.mode());
    }

    /** Closed after renewals have stopped, which use it, and before the client, which it uses. */
    @Bean
    ClaimStore exactlyOnceClaimStore(DynamoDbClaims claims, ExactlyOnceProperties properties) {
        ExactlyOnceProperties.Coalescing coalescing = properties.claim().coalescing();
        return new CoalescingClaimStore(
                claims.store(),
                new CoalescingSettings(
                        coalescing.flushers(),
                        Math.min(coalescing.maxBatch(), DynamoDbClaimStore.LARGEST_BATCH),
                        coalescing.patience()),
                System::nanoTime);
    }

    @Bean
    StartLine.Place exactlyOnceClaimPlace(
            @Qualifier(CLIENT) DynamoDbAsyncClient client, DynamoDbClaimProperties properties) {
        return new StartLine.Place("DynamoDB table %s in %s"
                .formatted(
                        properties.tableName(),
                        client.serviceClientConfiguration().region()));
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
