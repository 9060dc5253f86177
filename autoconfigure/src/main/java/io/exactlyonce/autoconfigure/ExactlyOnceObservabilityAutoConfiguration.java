package io.exactlyonce.autoconfigure;

import io.exactlyonce.actuate.ListenerStates;
import io.exactlyonce.actuate.ParkedMessages;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.audit.QueueObserver;
import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.observe.DeliveryLogContext;
import io.exactlyonce.observe.DeliveryObservations;
import io.exactlyonce.observe.EventPublisher;
import io.exactlyonce.observe.MessagingConvention;
import io.exactlyonce.observe.Prevented;
import io.exactlyonce.property.UnknownProperties;
import io.exactlyonce.time.EngineScheduler;
import io.exactlyonce.time.SystemScheduler;
import io.exactlyonce.window.WindowObserver;
import io.exactlyonce.window.WindowWatch;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

/** Watches visibility timeouts, queues and deliveries, and reports problems as events, log lines and traces. */
@AutoConfiguration(after = ExactlyOnceAutoConfiguration.class)
@ConditionalOnClass(WindowWatch.class)
@ConditionalOnBean(ListenerEngine.class)
@EnableConfigurationProperties({AuditProperties.class, ObservationProperties.class})
@Import({ListenerStates.class, Prevented.class, ParkedMessages.class})
public final class ExactlyOnceObservabilityAutoConfiguration {

    private static final String MESSAGES_OBSERVED = "spring.cloud.aws.sqs.observation-enabled";

    private static final Duration AUDIT_INTERVAL = Duration.ofMinutes(1);
    private static final int MOST_EVENTS = 1_000;

    @Bean
    static UnknownProperties exactlyOnceUnknownAuditProperties(ConfigurableEnvironment environment) {
        return new UnknownProperties(environment, "exactly-once.audit", AuditProperties.class, Set.of());
    }

    @Bean
    static UnknownProperties exactlyOnceUnknownObservationProperties(ConfigurableEnvironment environment) {
        return new UnknownProperties(environment, "exactly-once.observation", ObservationProperties.class, Set.of());
    }

    @Bean
    WindowWatch exactlyOnceWindowWatch(
            ExactlyOnceProperties properties, ObjectProvider<WindowObserver> observers, EngineScheduler scheduler) {
        return new WindowWatch(
                properties.renewal().enabled(), observers.orderedStream().toList(), scheduler);
    }

    @Bean
    QueueAudit exactlyOnceQueueAudit(
            AuditProperties audit,
            ExactlyOnceProperties properties,
            OutcomePolicy policy,
            WindowWatch windows,
            ObjectProvider<QueueObserver> observers,
            ObjectProvider<ClaimBackend> backends,
            EngineScheduler scheduler) {
        return new QueueAudit(
                audit.mode(),
                audit.silence(),
                new QueueAudit.Settings(
                        properties.renewal().enabled(),
                        policy,
                        () -> first(backends, ClaimBackend::connectionTimeout),
                        () -> first(backends, ClaimBackend::shortestConnectTime)),
                windows::p99,
                observers.orderedStream().toList(),
                scheduler);
    }

    private static Optional<Duration> first(
            ObjectProvider<ClaimBackend> backends, Function<ClaimBackend, Optional<Duration>> says) {
        return backends.stream().map(says).flatMap(Optional::stream).findFirst();
    }

    /**
     * Audits the queues, and logs how many repeated effects were prevented. Depends on the bean that runs renewals, so
     * that audits stop before renewals stop.
     */
    @Bean
    @DependsOn("exactlyOncePeriodicTasks")
    PeriodicTaskLifecycle exactlyOnceAudits(EngineScheduler scheduler, QueueAudit audit, Prevented prevented) {
        return new PeriodicTaskLifecycle(() -> scheduler.every(AUDIT_INTERVAL, "exactly-once-audit-1", () -> {
            prevented.tick();
            audit.tick();
        }));
    }

    @Bean
    EventPublisher exactlyOnceEvents(ApplicationEventPublisher application, EngineScheduler scheduler) {
        Executor thread = SystemScheduler.thread("exactly-once-events-1", MOST_EVENTS);
        return new EventPublisher(application, thread, scheduler);
    }

    @Bean
    DeliveryLogContext exactlyOnceLogContext() {
        return new DeliveryLogContext();
    }

    @Bean
    DeliveryObservations exactlyOnceObservations(
            ObjectProvider<ObservationRegistry> registry, ObservationProperties observation, Environment environment) {
        return new DeliveryObservations(
                registry.getIfAvailable(() -> ObservationRegistry.NOOP),
                environment.getProperty(MESSAGES_OBSERVED, Boolean.class, false),
                observation.opentelemetryNames());
    }

    /** Spring Boot adds this bean to each observation registry. */
    @Bean
    @ConditionalOnProperty("exactly-once.observation.opentelemetry-names")
    static MessagingConvention exactlyOnceMessagingConvention() {
        return new MessagingConvention();
    }
}
