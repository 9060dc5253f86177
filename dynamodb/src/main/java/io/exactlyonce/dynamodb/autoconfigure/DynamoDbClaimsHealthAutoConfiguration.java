package io.exactlyonce.dynamodb.autoconfigure;

import io.exactlyonce.autoconfigure.ClaimHealthGroups;
import io.exactlyonce.autoconfigure.ExactlyOnceActuatorAutoConfiguration;
import io.exactlyonce.dynamodb.DynamoDbClaims;
import io.exactlyonce.dynamodb.clock.ServiceClock;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.context.annotation.Bean;

/** Tells where Actuator is used whether claims can be kept, and by what it is known that leases are over. */
@AutoConfiguration(after = DynamoDbClaimsAutoConfiguration.class, before = ExactlyOnceActuatorAutoConfiguration.class)
@ConditionalOnClass({
    HealthEndpointGroupsPostProcessor.class,
    ConditionalOnEnabledHealthIndicator.class,
    SecurityContext.class
})
@ConditionalOnBean(DynamoDbClaims.class)
@ConditionalOnEnabledHealthIndicator("exactly-once")
public final class DynamoDbClaimsHealthAutoConfiguration {

    /** In the groups that ask for it: while DynamoDB is away, listeners pause and lose nothing. */
    @Bean
    static ClaimHealthGroups exactlyOnceHealthGroups() {
        return new ClaimHealthGroups();
    }

    @Bean
    ClaimTableHealth exactlyOnceStoreHealth(
            DynamoDbClaims claims, ServiceClock clock, DynamoDbClaimProperties properties) {
        return new ClaimTableHealth(claims, clock, properties.clock());
    }
}
