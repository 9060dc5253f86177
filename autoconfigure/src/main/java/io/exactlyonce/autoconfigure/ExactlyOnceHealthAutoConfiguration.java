package io.exactlyonce.autoconfigure;

import io.exactlyonce.actuate.ClaimHealthIndicator;
import io.exactlyonce.actuate.ListenerStates;
import io.exactlyonce.claim.postgres.ClaimDatabase;
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
public final class ExactlyOnceHealthAutoConfiguration {

    /** Claims in the database. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(ClaimDatabase.class)
    static class Database {

        /** Without an indicator, too, claims' pool is no part of the application's {@code db}. */
        @Bean
        static ClaimHealthGroups exactlyOnceHealthGroups() {
            return new ClaimHealthGroups();
        }

        @Bean
        ClaimHealthIndicator.Store exactlyOnceStoreHealth(ClaimDatabase database) {
            return health -> health.withDetail("primary", database.prove());
        }
    }

    @Bean
    @ConditionalOnBean(ClaimHealthIndicator.Store.class)
    @ConditionalOnEnabledHealthIndicator("exactly-once")
    @ConditionalOnMissingBean(name = "exactlyOnceHealthIndicator")
    ClaimHealthIndicator exactlyOnceHealthIndicator(
            ClaimHealthIndicator.Store store, RenewalLifecycle renewals, ListenerStates listeners) {
        return new ClaimHealthIndicator(store, renewals.supervisor(), listeners);
    }
}
