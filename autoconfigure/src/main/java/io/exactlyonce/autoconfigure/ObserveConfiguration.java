package io.exactlyonce.autoconfigure;

import io.exactlyonce.observe.DeliveryLogContext;
import io.exactlyonce.observe.DeliveryObservations;
import io.exactlyonce.observe.EventPublisher;
import io.exactlyonce.observe.MessagingConvention;
import io.exactlyonce.time.Clockwork;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** What accompanies deliveries: the log's context, observations and application events. */
@Configuration(proxyBeanMethods = false)
class ObserveConfiguration {

    private static final String MESSAGES_OBSERVED = "spring.cloud.aws.sqs.observation-enabled";
    private static final int MOST_EVENTS = 1_000;

    @Bean
    DeliveryLogContext exactlyOnceLogContext() {
        return new DeliveryLogContext();
    }

    @Bean
    DeliveryObservations exactlyOnceObservations(
            ObjectProvider<ObservationRegistry> registry, ExactlyOnceProperties properties, Environment environment) {
        return new DeliveryObservations(
                registry.getIfAvailable(() -> ObservationRegistry.NOOP),
                environment.getProperty(MESSAGES_OBSERVED, Boolean.class, false),
                properties.observation().opentelemetryNames());
    }

    /** Spring Boot has every registry go by it. */
    @Bean
    @ConditionalOnProperty("exactly-once.observation.opentelemetry-names")
    MessagingConvention exactlyOnceMessagingConvention() {
        return new MessagingConvention();
    }

    @Bean
    EventPublisher exactlyOnceEventPublisher(ApplicationEventPublisher events, Clockwork clockwork) {
        return new EventPublisher(
                events, ExactlyOnceAutoConfiguration.threads("exactly-once-events-", 1, MOST_EVENTS), clockwork);
    }
}
