package io.exactlyonce.autoconfigure;

import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.actuate.ClaimHealthIndicator;
import io.exactlyonce.actuate.ExactlyOnceEndpoint;
import io.exactlyonce.actuate.ListenerStates;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.metrics.DeliveryMetrics;
import io.exactlyonce.metrics.QueueMetrics;
import io.exactlyonce.metrics.ReplicaLagMetrics;
import io.exactlyonce.metrics.RetentionMetrics;
import io.exactlyonce.metrics.SightingMetrics;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.sighting.Sightings;
import io.exactlyonce.window.watch.WindowWatch;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** The endpoint {@code exactlyonce}, the health of claims, and meters: each where the application has what it takes. */
@AutoConfiguration(
        after = ExactlyOnceAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
public final class ExactlyOnceActuatorAutoConfiguration {

    /** The endpoint, where it is exposed. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    @ConditionalOnBean(ListenerStates.class)
    static class Endpoint {

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnAvailableEndpoint
        ExactlyOnceEndpoint exactlyOnceEndpoint(
                ListenerStates listeners,
                WindowWatch windows,
                QueueAudit audit,
                Sightings sightings,
                @Nullable ParkedClaims claims,
                @Nullable ExactlyOnceOperations operations) {
            return new ExactlyOnceEndpoint(listeners, windows, audit, sightings, claims, operations);
        }
    }

    /** Whether claims can be kept, told in each health group that names it. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ConditionalOnEnabledHealthIndicator.class, SecurityContext.class})
    static class Health {

        @Bean
        @ConditionalOnBean(ClaimDatabase.class)
        ClaimHealthIndicator.Store exactlyOnceStoreHealth(ClaimDatabase database) {
            return health -> health.withDetail("primary", database.prove());
        }

        /** Without an indicator, too. */
        @Bean
        @ConditionalOnBean(ClaimHealthIndicator.Store.class)
        static HealthEndpointGroupsPostProcessor exactlyOnceHealthGroups() {
            return HealthWithoutClaims::of;
        }

        @Bean
        @ConditionalOnBean(ClaimHealthIndicator.Store.class)
        @ConditionalOnEnabledHealthIndicator("exactly-once")
        @ConditionalOnMissingBean(name = "exactlyOnceHealthIndicator")
        ClaimHealthIndicator exactlyOnceHealthIndicator(
                ClaimHealthIndicator.Store store, RenewalSupervisor renewals, ListenerStates listeners) {
            return new ClaimHealthIndicator(store, renewals, listeners);
        }
    }

    /** Meters, where there is a registry for them. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnBean(MeterRegistry.class)
    static class Meters {

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnBean(WindowWatch.class)
        DeliveryMetrics exactlyOnceMetrics(MeterRegistry registry, WindowWatch watch) {
            return new DeliveryMetrics(registry, watch);
        }

        @Bean
        @ConditionalOnMissingBean
        QueueMetrics exactlyOnceQueueMetrics(MeterRegistry registry) {
            return new QueueMetrics(registry);
        }

        @Bean
        @ConditionalOnMissingBean
        ReplicaLagMetrics exactlyOnceReplicaLagMeters(MeterRegistry registry) {
            return new ReplicaLagMetrics(registry);
        }

        /** HikariCP's own meters. Boot binds those of the application's DataSources, of which the claims' pool is none. */
        @Bean
        @ConditionalOnBean(ClaimPool.class)
        MeterBinder exactlyOnceClaimPoolMeters(ClaimPool claims) {
            return registry -> claims.own()
                    .filter(pool -> pool.getMetricRegistry() == null)
                    .ifPresent(pool -> pool.setMetricRegistry(registry));
        }

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnBean(name = PostgresClaimsConfiguration.RETENTION)
        RetentionMetrics exactlyOnceRetentionMetrics(MeterRegistry registry) {
            return new RetentionMetrics(registry);
        }

        @Bean
        @Lazy
        @ConditionalOnMissingBean
        SightingMetrics exactlyOnceSightingMetrics(MeterRegistry registry) {
            return new SightingMetrics(registry);
        }
    }
}
