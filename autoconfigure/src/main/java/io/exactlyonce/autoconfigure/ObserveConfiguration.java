package io.exactlyonce.autoconfigure;

import io.exactlyonce.observe.DeliveryLogContext;
import io.exactlyonce.observe.DeliveryObservations;
import io.exactlyonce.observe.EventPublisher;
import io.exactlyonce.observe.MessagingConvention;
import io.micrometer.observation.ObservationRegistry;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/** What accompanies deliveries: the log's context, observations and application events. */
@Configuration(proxyBeanMethods = false)
class ObserveConfiguration {

    private static final String MESSAGES_OBSERVED = "spring.cloud.aws.sqs.observation-enabled";
    private static final int MOST_EVENTS = 1_000;
    private static final long IDLE_SECONDS = 10;

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

    /** Its thread ends when there is nothing to publish, so there is nothing to stop. */
    @Bean
    EventPublisher exactlyOnceEventPublisher(ApplicationEventPublisher events) {
        CustomizableThreadFactory threads = new CustomizableThreadFactory("exactly-once-events-");
        threads.setDaemon(true);
        ThreadPoolExecutor thread = new ThreadPoolExecutor(
                1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(MOST_EVENTS), threads);
        thread.allowCoreThreadTimeOut(true);
        return new EventPublisher(events, thread);
    }
}
