package io.exactlyonce.autoconfigure;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.claim.ClaimIdGenerator;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.CompositeDeliveryObserver;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.StoredResults;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.waiting.KeyWatcher;
import io.exactlyonce.delivery.waiting.StoreCircuitBreakers;
import io.exactlyonce.operations.ActionExecutor;
import io.exactlyonce.operations.DefaultExactlyOnceOperations;
import io.exactlyonce.property.UnknownProperties;
import io.exactlyonce.time.Clockwork;
import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.SystemClockwork;
import io.exactlyonce.window.watch.WindowLog;
import io.exactlyonce.window.watch.WindowObserver;
import io.exactlyonce.window.watch.WindowWatch;
import java.lang.management.ManagementFactory;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import tools.jackson.databind.json.JsonMapper;

/** Makes {@link ExactlyOnceListener} methods work. */
@AutoConfiguration(
        after = DataSourceAutoConfiguration.class,
        afterName = {
            "io.awspring.cloud.autoconfigure.sqs.SqsAutoConfiguration",
            "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration"
        })
@ConditionalOnProperty(name = "spring.cloud.aws.sqs.enabled", havingValue = "true", matchIfMissing = true)
@EnableConfigurationProperties(ExactlyOnceProperties.class)
@Import({
    PostgresClaimsConfiguration.class,
    ListenerConfiguration.class,
    AuditConfiguration.class,
    ObserveConfiguration.class,
    SightingConfiguration.class
})
public final class ExactlyOnceAutoConfiguration {

    static final String OBSERVERS = "exactlyOnceObservers";

    private static final long IDLE_SECONDS = 10;

    @Bean
    static UnknownProperties exactlyOnceUnknownProperties(ConfigurableEnvironment environment) {
        return new UnknownProperties(environment);
    }

    @Bean
    @ConditionalOnMissingBean
    Clockwork exactlyOnceClockwork() {
        return new SystemClockwork();
    }

    /** No candidate for injection: it is no observer for itself. */
    @Bean(name = OBSERVERS, defaultCandidate = false)
    CompositeDeliveryObserver exactlyOnceObservers(ObjectProvider<DeliveryObserver> observers) {
        return new CompositeDeliveryObserver(observers.orderedStream().toList());
    }

    @Bean
    RenewalLifecycle exactlyOnceRenewals(
            ClaimStore store,
            ExactlyOnceProperties properties,
            Clockwork clockwork,
            @Qualifier(OBSERVERS) CompositeDeliveryObserver observers) {
        return new RenewalLifecycle(store, properties.renewal().schedule(), observers, clockwork);
    }

    @Bean
    WindowWatch exactlyOnceWindowWatch(
            ExactlyOnceProperties properties, Clockwork clockwork, ObjectProvider<WindowObserver> observers) {
        return new WindowWatch(
                properties.renewal().enabled(), observers.orderedStream().toList(), clockwork);
    }

    @Bean
    WindowLog exactlyOnceWindowLog(ExactlyOnceProperties properties) {
        return new WindowLog(properties.renewal().enabled());
    }

    @Bean
    StoreCircuitBreakers exactlyOnceStoreCircuitBreakers(@Qualifier(OBSERVERS) CompositeDeliveryObserver observers) {
        return new StoreCircuitBreakers(observers);
    }

    @Bean
    TickLifecycle exactlyOnceKeyWatch(
            ClaimWriters writers,
            Deliveries deliveries,
            StoreCircuitBreakers breakers,
            Clockwork clockwork,
            ExactlyOnceProperties properties) {
        SimpleAsyncTaskExecutor probes = new SimpleAsyncTaskExecutor("exactly-once-probe-");
        probes.setDaemon(true);
        KeyWatcher watch =
                new KeyWatcher(writers.plain(), deliveries.waiters(), breakers, terms(properties), probes, clockwork);
        return new TickLifecycle(clockwork, "exactly-once-watch-1", watch::tick, KeyWatcher.INTERVAL);
    }

    @Bean
    Deliveries exactlyOnceDeliveries(
            RenewalLifecycle renewals,
            ExactlyOnceProperties properties,
            Clockwork clockwork,
            @Qualifier(OBSERVERS) CompositeDeliveryObserver observers) {
        return new Deliveries(
                renewals.supervisor(),
                observers,
                backoff(properties),
                clockwork,
                Jitter.RANDOM,
                properties.retry().maxWaiting());
    }

    @Bean
    JacksonResultSerializer exactlyOnceResultSerializer(ObjectProvider<JsonMapper> jsonMapper) {
        return new JacksonResultSerializer(jsonMapper.getIfAvailable(JsonMapper::new));
    }

    @Bean
    StoredResults exactlyOnceResults(JacksonResultSerializer serializer, ExactlyOnceProperties properties) {
        return new StoredResults(serializer, properties.claim().maxResultSize().toBytes());
    }

    /** A store of the application's own may have no parked claims to show, and needs no database. */
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(ParkedClaims.class)
    ExactlyOnceOperations exactlyOnceOperations(
            ClaimWriters writers,
            ParkedClaims parked,
            RenewalLifecycle renewals,
            ExactlyOnceProperties properties,
            StoredResults results,
            Clockwork clockwork,
            ObjectProvider<ClaimDatabase> database) {
        ActionExecutor executions =
                new ActionExecutor(writers.plain(), terms(properties), renewals.supervisor(), results, clockwork);
        return new DefaultExactlyOnceOperations(executions, parked, results, () -> requireReady(database));
    }

    private static void requireReady(ObjectProvider<ClaimDatabase> database) {
        database.ifAvailable(ClaimDatabase::requireReady);
    }

    static ClaimSettings terms(ExactlyOnceProperties properties) {
        return new ClaimSettings(
                ManagementFactory.getRuntimeMXBean().getName(),
                properties.claim().lease(),
                properties.claim().onMismatch(),
                new ClaimIdGenerator(System::nanoTime)::next);
    }

    /** Returns daemon threads that end by themselves when there is nothing to do, so that there is nothing to stop. */
    static ThreadPoolExecutor threads(String prefix, int most, int mostWaiting) {
        CustomizableThreadFactory daemons = new CustomizableThreadFactory(prefix);
        daemons.setDaemon(true);
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                most, most, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(mostWaiting), daemons);
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    @Bean
    DeliveryPipeline exactlyOncePipeline(
            ClaimWriters writers,
            StoreCircuitBreakers breakers,
            ExactlyOnceProperties properties,
            StoredResults results,
            Clockwork clockwork,
            @Qualifier(OBSERVERS) CompositeDeliveryObserver observers) {
        SimpleAsyncTaskExecutor cancellations = new SimpleAsyncTaskExecutor("exactly-once-cancellation-");
        cancellations.setDaemon(true);
        return new DeliveryPipeline(
                writers.guarded(breakers),
                terms(properties),
                backoff(properties),
                results,
                observers,
                clockwork,
                Jitter.RANDOM,
                cancellations);
    }

    @Bean
    ClaimWriters exactlyOnceClaimWriters(ClaimStore store, ExactlyOnceProperties properties, Clockwork clockwork) {
        return new ClaimWriters(store, properties.datasource().maximumPoolSize(), clockwork);
    }

    private static RetryBackoff backoff(ExactlyOnceProperties properties) {
        return new RetryBackoff(
                properties.retry().initialDelay(), properties.retry().maxDelay());
    }
}
