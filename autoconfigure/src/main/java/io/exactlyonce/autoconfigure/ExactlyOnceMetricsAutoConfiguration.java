package io.exactlyonce.autoconfigure;

import io.exactlyonce.metrics.DeliveryMetrics;
import io.exactlyonce.metrics.QueueMetrics;
import io.exactlyonce.metrics.ReplicaLagMetrics;
import io.exactlyonce.metrics.RetentionMetrics;
import io.exactlyonce.metrics.SightingMetrics;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.window.watch.WindowWatch;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/** Measures {@link io.exactlyonce.ExactlyOnceListener} methods where there is a registry for meters. */
@AutoConfiguration(
        after = ExactlyOnceAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
public final class ExactlyOnceMetricsAutoConfiguration {

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
