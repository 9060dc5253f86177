package io.exactlyonce.dynamodb.autoconfigure;

import io.exactlyonce.dynamodb.clock.ServiceClock;
import io.exactlyonce.dynamodb.request.ThrottledRequests;
import io.exactlyonce.dynamodb.request.ThrottledRequests.Reason;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Locale;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Measures how exactly the service's time is known. */
@AutoConfiguration(after = DynamoDbClaimsAutoConfiguration.class)
@ConditionalOnClass({MeterRegistry.class, MeterBinder.class})
@ConditionalOnBean(ServiceClock.class)
public final class DynamoDbClaimsMetricsAutoConfiguration {

    static final String UNCERTAINTY = "exactly.once.clock.uncertainty";
    static final String THROTTLED = "exactly.once.dynamodb.throttled";

    @Bean
    MeterBinder exactlyOnceClockMeters(ServiceClock clock) {
        return registry -> Gauge.builder(
                        UNCERTAINTY, clock, time -> time.uncertaintySeconds().orElse(Double.NaN))
                .baseUnit("seconds")
                .description("How far apart the bounds of DynamoDB's time are; no number while nothing is measured")
                .register(registry);
    }

    @Bean
    MeterBinder exactlyOnceThrottlingMeters(ThrottledRequests throttled) {
        return registry -> {
            for (Reason reason : Reason.values()) {
                FunctionCounter.builder(THROTTLED, throttled, requests -> requests.count(reason))
                        .tag("reason", reason.name().toLowerCase(Locale.ROOT))
                        .description(
                                "Statements and keys that DynamoDB throttled, and requests that the SDK gave up over it")
                        .register(registry);
            }
        };
    }
}
