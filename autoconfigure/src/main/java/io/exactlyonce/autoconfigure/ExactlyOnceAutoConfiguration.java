package io.exactlyonce.autoconfigure;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.Mode;
import io.exactlyonce.actuate.ListenerStates;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.audit.QueueObserver;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimIdGenerator;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.UnsupportedTransactionException;
import io.exactlyonce.claim.coalescing.ExecutorClaimStore;
import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.claim.postgres.transaction.TransactionCheck;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.CompositeDeliveryObserver;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.StoredResults;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.waiting.KeyWatcher;
import io.exactlyonce.delivery.waiting.StoreCircuitBreakers;
import io.exactlyonce.delivery.waiting.WaitingDeliveries;
import io.exactlyonce.listener.ExactlyOnceContainerFactory;
import io.exactlyonce.listener.ExactlyOnceContainerFactoryConfigurer;
import io.exactlyonce.listener.ExactlyOnceListenerConfigurer;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.listener.container.PlainListenerWarning;
import io.exactlyonce.listener.container.StartLine;
import io.exactlyonce.listener.method.ExactlyOnceAdvisor;
import io.exactlyonce.listener.observed.ObservedContainers;
import io.exactlyonce.observe.DeliveryLogContext;
import io.exactlyonce.observe.DeliveryObservations;
import io.exactlyonce.observe.EventPublisher;
import io.exactlyonce.observe.MessagingConvention;
import io.exactlyonce.operations.ActionExecutor;
import io.exactlyonce.operations.DefaultExactlyOnceOperations;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.property.UnknownProperties;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.RenewalSupervisor;
import io.exactlyonce.sighting.ListenerModes;
import io.exactlyonce.sighting.ObservedClaims;
import io.exactlyonce.sighting.SightingLog;
import io.exactlyonce.sighting.SightingObserver;
import io.exactlyonce.sighting.Sightings;
import io.exactlyonce.time.Clockwork;
import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.SystemClockwork;
import io.exactlyonce.time.Timer;
import io.exactlyonce.window.watch.WindowLog;
import io.exactlyonce.window.watch.WindowObserver;
import io.exactlyonce.window.watch.WindowWatch;
import io.micrometer.observation.ObservationRegistry;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.transaction.PlatformTransactionManager;
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
    ExactlyOnceAutoConfiguration.AutoProxyCreator.class,
    ListenerStates.class,
    PlainListenerWarning.class,
    SightingLog.class,
    Sightings.class
})
public final class ExactlyOnceAutoConfiguration {

    private static final String MESSAGES_OBSERVED = "spring.cloud.aws.sqs.observation-enabled";

    private static final Duration AUDIT_INTERVAL = Duration.ofMinutes(1);
    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);
    private static final long IDLE_SECONDS = 10;
    private static final int MOST_EVENTS = 1_000;

    private final ExactlyOnceProperties properties;
    private final Clockwork clockwork;
    private final ClaimStore store;
    private final AsyncClaimStore async;
    private final ClaimWriter writer;
    private final ClaimSettings terms;
    private final RetryBackoff backoff;
    private final JacksonResultSerializer serializer;
    private final StoredResults results;

    /** Takes what most of the beans here need, so that neither the store nor the JSON mapper may need one of them. */
    ExactlyOnceAutoConfiguration(
            ExactlyOnceProperties properties, Clockwork clockwork, ClaimStore store, ObjectProvider<JsonMapper> json) {
        this.properties = properties;
        this.clockwork = clockwork;
        this.store = store;
        int threads = properties.datasource().maximumPoolSize();
        this.async = store instanceof AsyncClaimStore own
                ? own
                : new ExecutorClaimStore(store, threads("exactly-once-claims-", threads, Integer.MAX_VALUE));
        // Tells no circuit breaker of answers.
        this.writer = new ClaimWriter(store, async, clockwork);
        this.terms = new ClaimSettings(
                ManagementFactory.getRuntimeMXBean().getName(),
                properties.claim().lease(),
                properties.claim().onMismatch(),
                new ClaimIdGenerator(System::nanoTime)::next);
        this.backoff = new RetryBackoff(
                properties.retry().initialDelay(), properties.retry().maxDelay());
        this.serializer = new JacksonResultSerializer(json.getIfAvailable(JsonMapper::new));
        this.results =
                new StoredResults(serializer, properties.claim().maxResultSize().toBytes());
    }

    @Bean
    static UnknownProperties exactlyOnceUnknownProperties(ConfigurableEnvironment environment) {
        return new UnknownProperties(environment, "exactly-once", ExactlyOnceProperties.class);
    }

    @Bean
    @ConditionalOnMissingBean
    static Clockwork exactlyOnceClockwork() {
        return new SystemClockwork();
    }

    /** All observers that are beans, but for itself. */
    @Bean
    CompositeDeliveryObserver exactlyOnceObservers(
            List<DeliveryObserver> observers, ObjectProvider<ObservationRegistry> registry, Environment environment) {
        DeliveryObservations observations = new DeliveryObservations(
                registry.getIfAvailable(() -> ObservationRegistry.NOOP),
                environment.getProperty(MESSAGES_OBSERVED, Boolean.class, false),
                properties.observation().opentelemetryNames());
        Stream<DeliveryObserver> around = Stream.of(new DeliveryLogContext(), observations);
        return new CompositeDeliveryObserver(
                Stream.concat(observers.stream(), around).toList());
    }

    @Bean
    RenewalSupervisor exactlyOnceRenewals(CompositeDeliveryObserver observers) {
        RenewalSchedule schedule = properties.renewal().schedule();
        Executor leases = clockwork.thread("exactly-once-leases-1");
        return new RenewalSupervisor(store, schedule, observers, leases, clockwork, Jitter.RANDOM);
    }

    /** Deliveries are renewed while their handlers and acknowledgements finish. */
    @Bean
    TickLifecycle exactlyOnceRenewalLifecycle(RenewalSupervisor renewals) {
        return new TickLifecycle(() -> renewals.begin(clockwork, "exactly-once-renewal-1"));
    }

    @Bean
    ListenerEngine exactlyOnceEngine(
            RenewalSupervisor renewals,
            CompositeDeliveryObserver observers,
            QueueAudit audit,
            ObjectProvider<StartLine.Place> places,
            ObjectProvider<ClaimDatabase> database) {
        int mostWaiting = properties.retry().maxWaiting();
        Deliveries deliveries = new Deliveries(renewals, observers, backoff, clockwork, Jitter.RANDOM, mostWaiting);
        StoreCircuitBreakers breakers = new StoreCircuitBreakers(observers);
        ClaimWriter guarded = new ClaimWriter(store, breakers.claims().guard(async), clockwork);
        Executor cancellations = new SimpleAsyncTaskExecutor(daemons("exactly-once-cancellation-"));
        DeliveryPipeline pipeline = new DeliveryPipeline(
                guarded, terms, backoff, results, observers, clockwork, Jitter.RANDOM, cancellations);
        StartLine line = new StartLine(
                places.getIfAvailable(() -> new StartLine.Place(store.getClass().getSimpleName())),
                properties.claim().retention(),
                properties.claim().lease(),
                properties.renewal().schedule());
        return new ListenerEngine(
                pipeline,
                deliveries,
                breakers,
                observers,
                clockwork,
                clockwork,
                audit::require,
                line,
                () -> database.ifAvailable(ClaimDatabase::beginCheck),
                () -> database.ifAvailable(ClaimDatabase::requireReady));
    }

    @Bean
    TickLifecycle exactlyOnceKeyWatch(ListenerEngine engine) {
        WaitingDeliveries waiting = engine.deliveries().waiters();
        Executor probes = new SimpleAsyncTaskExecutor(daemons("exactly-once-probe-"));
        KeyWatcher watch = new KeyWatcher(writer, waiting, engine.breakers(), terms, probes, clockwork);
        return new TickLifecycle(() -> clockwork.every(KeyWatcher.INTERVAL, "exactly-once-watch-1", watch::tick));
    }

    /** A store of the application's own may have no parked claims to show, and needs no database. */
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(ParkedClaims.class)
    ExactlyOnceOperations exactlyOnceOperations(
            ParkedClaims parked, RenewalSupervisor renewals, ListenerEngine engine) {
        ActionExecutor executions = new ActionExecutor(writer, terms, renewals, results, clockwork);
        return new DefaultExactlyOnceOperations(executions, parked, results, engine.readiness());
    }

    @Bean
    ExactlyOnceContainerFactoryConfigurer exactlyOnceContainerFactoryConfigurer(
            Environment environment, ListenerEngine engine, ObjectProvider<ObservedClaims> observed) {
        return new ExactlyOnceContainerFactoryConfigurer(environment, engine, new ObservedContainers(observed));
    }

    @Bean(ExactlyOnceListener.CONTAINER_FACTORY)
    ExactlyOnceContainerFactory exactlyOnceListenerContainerFactory(
            ExactlyOnceContainerFactoryConfigurer configurer, BeanFactory beans) {
        return configurer.prepareDefault(beans);
    }

    @Bean
    ExactlyOnceListenerConfigurer exactlyOnceListenerConfigurer(
            ListableBeanFactory beans,
            Environment environment,
            ObjectProvider<ListenerEngine> engine,
            Optional<TransactionCheck> database) {
        ListenerModes modes = new ListenerModes(environment, properties.mode());
        return new ExactlyOnceListenerConfigurer(beans, modes, serializer, (manager, named) -> {
            ListenerEngine its = engine.getObject();
            // A transaction proves itself on the table, which may have to be created first.
            its.readiness().run();
            TransactionCheck check = database.orElseThrow(() -> new UnsupportedTransactionException(
                    "claims are kept by a ClaimStore other than PostgreSQL's, which shares no transactions with handlers",
                    "use effects = EXTERNAL; for effects in DynamoDB, with DynamoDbCompletion in the handler's own transaction",
                    null));
            return its.breakers().guard(check.of(manager, named), nameOf(manager, beans));
        });
    }

    private static String nameOf(PlatformTransactionManager manager, ListableBeanFactory beans) {
        return beans.getBeansOfType(PlatformTransactionManager.class, false, false).entrySet().stream()
                .filter(bean -> bean.getValue() == manager)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseGet(manager::toString);
    }

    /** With lazy initialisation nothing else would make a listener's bean, and nothing would say that its queue is not read. */
    @Bean
    static LazyInitializationExcludeFilter exactlyOnceListenersAreNotLazy() {
        return (name, definition, type) -> ExactlyOnceAdvisor.isListener(type);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static ExactlyOnceAdvisor exactlyOnceAdvisor(
            ObjectProvider<ListenerEngine> engine, BeanFactory beans, Environment environment) {
        // Advice is made before properties are bound for beans.
        Mode mode =
                Binder.get(environment).bind("exactly-once.mode", Mode.class).orElse(Mode.ENFORCE);
        return new ExactlyOnceAdvisor(
                () -> engine.getObject().pipeline(),
                () -> beans.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME, ProxyConfig.class),
                new ListenerModes(environment, mode));
    }

    @Bean
    QueueAudit exactlyOnceQueueAudit(
            WindowWatch windows, ObjectProvider<QueueObserver> observers, Optional<ClaimPool> claims) {
        Executor thread = threads("exactly-once-audit-start-", 1, Integer.MAX_VALUE);
        // The timer's own thread may not wait for SQS.
        Timer afterwards = (delay, task) -> Timer.SYSTEM.after(
                delay, () -> thread.execute(() -> Boundary.guard("The first audit of a queue", task)));
        return new QueueAudit(
                properties.audit().mode(),
                properties.audit().silence(),
                new QueueAudit.Terms(
                        properties.renewal().enabled(),
                        properties.claim().lease(),
                        properties.claim().retention(),
                        backoff,
                        claims.flatMap(ClaimPool::chosenTimeout).orElse(null),
                        () -> claims.flatMap(ClaimPool::openingTime)),
                windows::p99,
                observers.orderedStream().toList(),
                afterwards);
    }

    @Bean
    TickLifecycle exactlyOnceAuditLifecycle(QueueAudit audit) {
        return new TickLifecycle(() -> clockwork.every(AUDIT_INTERVAL, "exactly-once-audit-1", audit::tick));
    }

    /** Spring Boot has every registry go by it. */
    @Bean
    @ConditionalOnProperty("exactly-once.observation.opentelemetry-names")
    static MessagingConvention exactlyOnceMessagingConvention() {
        return new MessagingConvention();
    }

    @Bean
    EventPublisher exactlyOnceEventPublisher(ApplicationEventPublisher events) {
        return new EventPublisher(events, threads("exactly-once-events-", 1, MOST_EVENTS), clockwork);
    }

    @Bean
    WindowWatch exactlyOnceWindowWatch(List<WindowObserver> observers) {
        boolean isRenewed = properties.renewal().enabled();
        Stream<WindowObserver> told = Stream.concat(Stream.of(new WindowLog(isRenewed)), observers.stream());
        return new WindowWatch(isRenewed, told.toList(), clockwork);
    }

    /** Only for observed listeners. What its thread is given is bounded by the observations that may be under way. */
    @Bean
    @Lazy
    ObservedClaims exactlyOnceObservedClaims(List<SightingObserver> observers) {
        Executor thread = threads("exactly-once-observing-", 1, Integer.MAX_VALUE);
        return new ObservedClaims(async, terms, observers, thread, clockwork, ObservedClaims.MOST_UNDER_WAY);
    }

    /**
     * Proves the database ready, and makes its table, for listeners whose start does not wait for it: again and again until that has
     * passed.
     */
    @Bean
    @ConditionalOnBean(ClaimDatabase.class)
    TickLifecycle exactlyOnceObservedDatabase(ClaimDatabase database, Sightings sightings, SightingLog log) {
        Runnable check = () -> {
            try {
                database.requireReady();
            } catch (RuntimeException away) {
                log.unanswered(away);
            }
        };
        return new TickLifecycle(() -> sightings.isObserving()
                ? clockwork.every(CHECK_INTERVAL, "exactly-once-observed-check-1", check)
                : () -> {});
    }

    /** Returns daemon threads that end by themselves when there is nothing to do, so that there is nothing to stop. */
    private static ThreadPoolExecutor threads(String prefix, int most, int mostWaiting) {
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                most, most, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(mostWaiting), daemons(prefix));
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    private static ThreadFactory daemons(String prefix) {
        CustomizableThreadFactory daemons = new CustomizableThreadFactory(prefix);
        daemons.setDaemon(true);
        return daemons;
    }

    /** Makes sure that infrastructure advice is applied at all, also with {@code spring.aop.auto=false}. */
    static final class AutoProxyCreator implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importer, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }
}
