package io.exactlyonce.autoconfigure;

import io.exactlyonce.actuate.ClaimHealthIndicator;
import io.exactlyonce.actuate.ExactlyOnceConsoleEndpoint;
import io.exactlyonce.actuate.ExactlyOnceEndpoint;
import io.exactlyonce.actuate.ListenerStates;
import io.exactlyonce.actuate.ShownKeys;
import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.metrics.ClaimDatabaseMetrics;
import io.exactlyonce.metrics.DeliveryMetrics;
import io.exactlyonce.metrics.ObservedMetrics;
import io.exactlyonce.metrics.ParkedMetrics;
import io.exactlyonce.metrics.QueueMetrics;
import io.exactlyonce.metrics.RetentionMetrics;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.time.EngineScheduler;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;

/**
 * Creates the endpoint {@code exactlyonce}, the operators' page, the health indicator of claims, and meters. Each is
 * created only if the application has the libraries that it needs.
 */
@AutoConfiguration(
        after = ExactlyOnceObservabilityAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnBean(WindowWatch.class)
public final class ExactlyOnceActuatorAutoConfiguration {

    /** Creates the endpoint, if the application exposes it. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    @ConditionalOnAvailableEndpoint(endpoint = ExactlyOnceEndpoint.class)
    @EnableConfigurationProperties(ExactlyOnceEndpointProperties.class)
    @Import(ExactlyOnceEndpoint.class)
    static class Endpoint {

        @Bean
        ShownKeys exactlyOnceShownKeys(
                ExactlyOnceEndpointProperties properties, ObjectProvider<SanitizingFunction> functions) {
            return new ShownKeys(
                    properties.showValues(),
                    properties.roles(),
                    functions.orderedStream().toList());
        }
    }

    /** Creates the page for operators, if the application exposes it. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ConditionalOnAvailableEndpoint.class, PathMappedEndpoints.class})
    @ConditionalOnAvailableEndpoint(endpoint = ExactlyOnceConsoleEndpoint.class)
    static class Console {

        private static final EndpointId API = EndpointId.of("exactlyonce");
        private static final EndpointId PAGE = EndpointId.of("exactlyonceconsole");

        @Bean
        ExactlyOnceConsoleEndpoint exactlyOnceConsoleEndpoint(
                ObjectProvider<PathMappedEndpoints> endpoints, ObjectProvider<EndpointAccessResolver> access) {
            return new ExactlyOnceConsoleEndpoint(
                    () -> relative(rootPath(endpoints, PAGE), rootPath(endpoints, API)),
                    () -> access.stream()
                            .allMatch(resolver -> resolver.accessFor(API, Access.READ_ONLY) == Access.UNRESTRICTED));
        }

        private static String rootPath(ObjectProvider<PathMappedEndpoints> endpoints, EndpointId id) {
            return endpoints.stream()
                    .map(all -> all.getRootPath(id))
                    .filter(Objects::nonNull)
                    .findFirst()
                    .orElse(id.toLowerCaseString());
        }

        /**
         * Returns the relative link from the operators' page to the endpoint. Each slash in the page's own path needs
         * one {@code ../}.
         */
        private static String relative(String page, String api) {
            return "../".repeat((int) page.chars().filter(c -> c == '/').count()) + api;
        }
    }

    /** Creates the health indicator of claims. Only health groups that name this indicator include it. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ConditionalOnEnabledHealthIndicator.class, SecurityContext.class})
    static class Health {

        @Bean
        @ConditionalOnBean(ClaimBackend.class)
        @ConditionalOnEnabledHealthIndicator("exactly-once")
        ClaimHealthIndicator exactlyOnceHealthIndicator(
                ClaimBackend backend, Renewer renewals, ListenerStates listeners) {
            return new ClaimHealthIndicator(backend, renewals, listeners);
        }
    }

    /** Creates meters, if there is a meter registry. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnBean(MeterRegistry.class)
    @Import({DeliveryMetrics.class, QueueMetrics.class})
    static class Meters {

        @Bean
        @Lazy
        ObservedMetrics exactlyOnceObservedMetrics(MeterRegistry registry) {
            return new ObservedMetrics(registry);
        }
    }

    /** Creates meters of parked keys, if the claim store can list parked keys. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnBean({MeterRegistry.class, ParkedClaims.class})
    static class ParkedMeters {

        private static final Duration INTERVAL = Duration.ofSeconds(30);

        /**
         * Counts parked keys every 30 s on its own thread, so that a scrape of the meters never waits for the store.
         * Counts nothing until the store is ready.
         */
        @Bean
        PeriodicTaskLifecycle exactlyOnceParkedMetrics(
                MeterRegistry registry,
                ParkedClaims claims,
                ObjectProvider<ClaimBackend> backends,
                EngineScheduler scheduler) {
            ParkedMetrics metrics = new ParkedMetrics(registry, claims, InstantSource.system());
            Runnable count = PeriodicTaskLifecycle.whenReady(
                    () -> backends.stream().allMatch(ClaimBackend::isReady), metrics::refresh);
            return new PeriodicTaskLifecycle(() -> scheduler.every(INTERVAL, "exactly-once-parked-1", count));
        }
    }

    /** Creates meters of the claim database, if claims are stored in PostgreSQL. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({MeterRegistry.class, ClaimPool.class})
    @ConditionalOnBean({MeterRegistry.class, ClaimPool.class})
    static class DatabaseMeters {

        @Bean
        ClaimDatabaseMetrics exactlyOnceClaimDatabaseMetrics(MeterRegistry registry, ClaimPool claims) {
            return new ClaimDatabaseMetrics(registry, claims);
        }

        @Bean
        @ConditionalOnBean(name = PostgresClaimsConfiguration.RETENTION)
        RetentionMetrics exactlyOnceRetentionMetrics(MeterRegistry registry) {
            return new RetentionMetrics(registry);
        }
    }
}
