package io.exactlyonce.autoconfigure;

import io.exactlyonce.actuate.ClaimHealthIndicator;
import io.exactlyonce.actuate.ListenerStates;
import io.exactlyonce.claim.postgres.startup.ClaimDatabase;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Tells where Actuator is used whether claims can be kept: in each health group that names it. */
@AutoConfiguration(after = ExactlyOnceAutoConfiguration.class)
@ConditionalOnClass({
    HealthEndpointGroupsPostProcessor.class,
    ConditionalOnEnabledHealthIndicator.class,
    SecurityContext.class
})
@ConditionalOnBean(name = ClaimStoreConfiguration.DATA_SOURCE)
public final class ExactlyOnceHealthAutoConfiguration {

    /** Without it, too, claims' pool is no part of the application's {@code db}. */
    @Bean
    static ClaimHealthGroups exactlyOnceHealthGroups() {
        return new ClaimHealthGroups();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnEnabledHealthIndicator("exactly-once")
    static class Indicator {

        @Bean
        @ConditionalOnMissingBean(name = "exactlyOnceHealthIndicator")
        ClaimHealthIndicator exactlyOnceHealthIndicator(
                ClaimDatabase database, RenewalLifecycle renewals, ListenerStates listeners) {
            return new ClaimHealthIndicator(database::prove, renewals.supervisor(), listeners);
        }
    }
}
