package io.exactlyonce.autoconfigure;

import io.exactlyonce.actuate.ListenerStates;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.audit.QueueObserver;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.time.Clockwork;
import io.exactlyonce.time.Timer;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.foresight.Latencies;
import io.exactlyonce.window.watch.WindowWatch;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What is known of listeners, and the audit of their queues. */
@Configuration(proxyBeanMethods = false)
class AuditConfiguration {

    /** Deliveries from which on a 99th percentile is more than the longest of them. */
    private static final int ENOUGH = 100;

    private static final Duration INTERVAL = Duration.ofMinutes(1);

    @Bean
    @ConditionalOnMissingBean
    QueueAudit exactlyOnceQueueAudit(
            ExactlyOnceProperties properties,
            WindowWatch windows,
            ObjectProvider<QueueObserver> observers,
            ObjectProvider<ClaimPool> claims) {
        return new QueueAudit(
                properties.audit().mode(),
                properties.audit().silence(),
                terms(properties, claims.getIfAvailable()),
                subscription -> p99(windows, subscription),
                observers.orderedStream().toList(),
                afterwards());
    }

    private static Optional<Duration> p99(WindowWatch windows, Subscription subscription) {
        return windows.window(subscription.listener(), subscription.queue())
                .map(window -> window.outlook().latencies())
                .filter(latencies -> latencies.count() >= ENOUGH)
                .map(Latencies::p99);
    }

    /** The timer's own thread may not wait for SQS. */
    private static Timer afterwards() {
        Executor thread = ExactlyOnceAutoConfiguration.threads("exactly-once-audit-start-", 1, Integer.MAX_VALUE);
        return (delay, task) -> Timer.SYSTEM.after(
                delay, () -> thread.execute(() -> Boundary.guard("The first audit of a queue", task)));
    }

    private static QueueAudit.Terms terms(ExactlyOnceProperties properties, @Nullable ClaimPool claims) {
        return new QueueAudit.Terms(
                properties.renewal().enabled(),
                properties.claim().lease(),
                properties.claim().retention(),
                properties.retry().initialDelay(),
                properties.retry().maxDelay(),
                claims == null ? null : claims.chosenTimeout().orElse(null),
                claims == null ? Optional::empty : claims::openingTime);
    }

    @Bean
    ListenerStates exactlyOnceListenerStates() {
        return new ListenerStates();
    }

    @Bean
    TickLifecycle exactlyOnceAuditLifecycle(Clockwork clockwork, QueueAudit audit) {
        return new TickLifecycle(clockwork, "exactly-once-audit-1", audit::tick, INTERVAL);
    }
}
