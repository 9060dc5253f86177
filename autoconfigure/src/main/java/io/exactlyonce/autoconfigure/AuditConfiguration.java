package io.exactlyonce.autoconfigure;

import io.exactlyonce.audit.AuditTerms;
import io.exactlyonce.audit.Latencies;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.audit.QueueObserver;
import java.util.Optional;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The audit of the listeners' queues. */
@Configuration(proxyBeanMethods = false)
class AuditConfiguration {

    @Bean
    @ConditionalOnMissingBean
    QueueAudit exactlyOnceQueueAudit(
            ExactlyOnceProperties properties, ObjectProvider<Latencies> latencies, ObjectProvider<QueueObserver> observers) {
        return new QueueAudit(
                properties.audit().mode(),
                properties.audit().silence(),
                terms(properties),
                latencies.getIfAvailable(() -> subscription -> Optional.empty()),
                (subscription, levels) ->
                        observers.orderedStream().forEach(observer -> observer.observed(subscription, levels)));
    }

    private static AuditTerms terms(ExactlyOnceProperties properties) {
        return new AuditTerms(
                properties.renewal().enabled(),
                properties.claim().lease(),
                properties.claim().retention(),
                properties.retry().initialDelay(),
                properties.retry().maxDelay());
    }

    @Bean
    AuditLifecycle exactlyOnceAuditLifecycle(QueueAudit audit) {
        return new AuditLifecycle(audit);
    }
}
