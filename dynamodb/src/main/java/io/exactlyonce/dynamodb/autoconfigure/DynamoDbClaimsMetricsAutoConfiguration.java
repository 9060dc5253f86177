package io.exactlyonce.dynamodb.autoconfigure;

import io.exactlyonce.dynamodb.clock.ServiceClock;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
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

    @Bean
    MeterBinder exactlyOnceClockMeters(ServiceClock clock) {
        return registry -> Gauge.builder(
                        UNCERTAINTY, clock, time -> time.uncertaintySeconds().orElse(Double.NaN))
                .baseUnit("seconds")
                .description("How far apart the bounds of DynamoDB's time are; no number while nothing is measured")
                .register(registry);
    }
}
