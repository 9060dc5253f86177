package io.exactlyonce.autoconfigure;

import io.exactlyonce.primary.PrimaryPinnedDataSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.jdbc.health.DataSourceHealthIndicator;
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
        DataSourceHealthIndicator exactlyOnceHealthIndicator(
                @Qualifier(ClaimStoreConfiguration.DATA_SOURCE) PrimaryPinnedDataSource dataSource) {
            return new DataSourceHealthIndicator(dataSource);
        }
    }
}
