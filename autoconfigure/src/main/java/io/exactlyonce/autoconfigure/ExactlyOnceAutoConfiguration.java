package io.exactlyonce.autoconfigure;

import static java.util.Objects.requireNonNull;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.autoconfigure.ExactlyOnceProperties.Listener;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.claim.ClaimIdGenerator;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.groupcommit.GroupCommitClaimStore;
import io.exactlyonce.claim.groupcommit.GroupCommitSettings;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.UnsupportedTransactionException;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryObservers;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.SubscriptionCheck;
import io.exactlyonce.delivery.pipeline.CircuitBreakers;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.pipeline.RetryingClaimClient;
import io.exactlyonce.delivery.pipeline.WaitingDeliveries;
import io.exactlyonce.listener.ExactlyOnceContainerFactory;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.listener.factory.ContainerPreparation;
import io.exactlyonce.listener.factory.ExactlyOnceListenerConfigurer;
import io.exactlyonce.listener.factory.ListenerDetection;
import io.exactlyonce.listener.method.ExactlyOnceAdvisor;
import io.exactlyonce.listener.method.ListenerModes;
import io.exactlyonce.listener.observed.ObservedListeners;
import io.exactlyonce.listener.startup.ListenerRegistry;
import io.exactlyonce.listener.startup.ListenerSummary;
import io.exactlyonce.listener.startup.PlainListeners;
import io.exactlyonce.listener.startup.SharedPools;
import io.exactlyonce.listener.startup.SharedQueues;
import io.exactlyonce.observed.ObservationCounter;
import io.exactlyonce.observed.ObservedClaims;
import io.exactlyonce.observed.ObservedCounts;
import io.exactlyonce.operations.ActionExecutor;
import io.exactlyonce.operations.DefaultExactlyOnceOperations;
import io.exactlyonce.operations.DefaultParkedKeys;
import io.exactlyonce.property.UnknownProperties;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.renewal.Renewer;
import io.exactlyonce.result.StoredResults;
import io.exactlyonce.time.EngineScheduler;
import io.exactlyonce.time.Jitter;
import io.exactlyonce.time.SystemScheduler;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.thread.Threading;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.transaction.PlatformTransactionManager;
import tools.jackson.databind.json.JsonMapper;

/** Creates the beans that {@link ExactlyOnceListener} methods and {@link ExactlyOnceOperations} need. */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "io.awspring.cloud.autoconfigure.sqs.SqsAutoConfiguration",
            "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration"
        })
@Conditional(ListenerDetection.Expected.class)
@EnableConfigurationProperties(ExactlyOnceProperties.class)
@Import({
    PostgresClaimsConfiguration.class,
    ExactlyOnceAutoConfiguration.AutoProxyCreator.class,
    ListenerDetection.class,
    ListenerRegistry.class,
    SharedQueues.class,
    PlainListeners.class,
    SharedPools.class
})
public final class ExactlyOnceAutoConfiguration implements DisposableBean {

    /**
     * Groups of properties that this class must not report as unknown. The optional observability module reads and
     * checks them. An application without this module may also set them, because several applications may share a
     * configuration.
     */
    private static final Set<String> OBSERVABILITY = Set.of("exactly-once.audit", "exactly-once.observation");

    private static final String LISTENER_CONFIGURER = "exactlyOnceListenerConfigurer";

    private final ExactlyOnceProperties properties;
    private final EngineScheduler scheduler;
    private final ClaimStore store;
    private final AsyncClaimStore async;
    private final RetryingClaimClient claims;
    private final OutcomePolicy policy;
    private final JacksonResultSerializer serializer;
    private final StoredResults results;

    /**
     * Creates the objects that several beans of this class share. Spring calls this constructor before it can create a
     * bean of this class. The constructor needs the claim store and the JSON mapper. So neither of them may depend on a
     * bean of this class.
     */
    ExactlyOnceAutoConfiguration(
            ExactlyOnceProperties properties,
            EngineScheduler scheduler,
            ObjectProvider<ClaimStore> stores,
            ObjectProvider<GroupCommitSettings> groups,
            ObjectProvider<JsonMapper> json) {
        this.properties = properties;
        this.scheduler = scheduler;
        this.store = stores.getIfAvailable(() -> {
            throw properties.claim().store().isMissing();
        });
        this.async = store instanceof AsyncClaimStore own
                ? own
                : new GroupCommitClaimStore(store, groups.getIfAvailable(() -> GroupCommitSettings.USUAL), scheduler);
        this.claims = new RetryingClaimClient(store, async, scheduler);
        this.policy = policy(properties);
        this.serializer = new JacksonResultSerializer(json.getIfAvailable(JsonMapper::new));
        this.results =
                new StoredResults(serializer, properties.claim().maxResultSize().toBytes());
    }

    private static OutcomePolicy policy(ExactlyOnceProperties properties) {
        ClaimIdGenerator ids = new ClaimIdGenerator(System::nanoTime);
        Map<String, OutcomePolicy> own = new HashMap<>();
        MismatchPolicy onMismatch = properties.claim().onMismatch();
        properties.listeners().forEach((id, listener) -> own.put(id, policy(listener, onMismatch, ids, Map.of())));
        return policy(Listener.of(properties.claim(), properties.retry()), onMismatch, ids, own);
    }

    private static OutcomePolicy policy(
            Listener settings, MismatchPolicy onMismatch, ClaimIdGenerator ids, Map<String, OutcomePolicy> own) {
        return new OutcomePolicy(
                new ClaimSettings(
                        ManagementFactory.getRuntimeMXBean().getName(),
                        settings.lease(),
                        settings.retention(),
                        onMismatch,
                        ids::next),
                new RetryBackoff(
                        requireNonNull(settings.retry().initialDelay()),
                        requireNonNull(settings.retry().maxDelay())),
                own);
    }

    /**
     * Closes the {@link GroupCommitClaimStore}, which sends claims to the claim store in batches. Spring calls this
     * method after it has closed the beans that make claims, and before it closes the claim store.
     */
    @Override
    public void destroy() {
        if (async instanceof GroupCommitClaimStore front) {
            front.close();
        }
    }

    @Bean
    static UnknownProperties exactlyOnceUnknownProperties(ConfigurableEnvironment environment) {
        return new UnknownProperties(environment, "exactly-once", ExactlyOnceProperties.class, OBSERVABILITY);
    }

    @Bean
    @ConditionalOnMissingBean
    static EngineScheduler exactlyOnceScheduler() {
        return new SystemScheduler();
    }

    @Bean
    OutcomePolicy exactlyOnceOutcomePolicy() {
        return policy;
    }

    @Bean
    DeliveryObservers exactlyOnceObservers(List<DeliveryObserver> observers) {
        return new DeliveryObservers(observers);
    }

    @Bean
    Renewer exactlyOnceRenewals(DeliveryObservers observers) {
        RenewalSchedule schedule = properties.renewal().schedule();
        Executor leases = scheduler.thread("exactly-once-leases-1");
        return new Renewer(store, schedule, observers::on, leases, scheduler, Jitter.RANDOM);
    }

    @Bean
    ListenerEngine exactlyOnceEngine(
            Renewer renewals,
            DeliveryObservers observers,
            ObjectProvider<SubscriptionCheck> checks,
            ObjectProvider<ClaimBackend> backends) {
        int mostWaiting = properties.retry().maxWaiting();
        Deliveries deliveries = new Deliveries(renewals, claims, policy, observers, scheduler, mostWaiting);
        SimpleAsyncTaskExecutor cancellations = new SimpleAsyncTaskExecutor("exactly-once-cancellation-");
        cancellations.setDaemon(true);
        DeliveryPipeline pipeline = new DeliveryPipeline(claims, policy, results, observers, scheduler, cancellations);
        ListenerSummary line = new ListenerSummary(
                () -> backends.stream()
                        .map(ClaimBackend::description)
                        .findFirst()
                        .orElse(store.getClass().getSimpleName()),
                policy,
                properties.renewal().schedule());
        return new ListenerEngine(
                pipeline,
                deliveries,
                new CircuitBreakers(scheduler),
                observers,
                scheduler,
                subscription -> checks.orderedStream().forEach(check -> check.require(subscription)),
                line,
                () -> backends.forEach(ClaimBackend::beginCheck),
                () -> backends.forEach(ClaimBackend::requireReady));
    }

    /**
     * Checks the listener ids in the properties, and then starts two periodic tasks. The first task renews visibility
     * timeouts and leases. The second task serves deliveries that wait because another worker owns their key, and looks
     * up whether such a key is free now. Both tasks stop after the listeners, because running handlers still need
     * renewals.
     */
    @Bean
    PeriodicTaskLifecycle exactlyOncePeriodicTasks(
            Renewer renewals, ListenerEngine engine, ListenerRegistry listeners) {
        WaitingDeliveries waiting = engine.deliveries().waiting();
        return new PeriodicTaskLifecycle(() -> {
            properties.requireListeners(listeners.ids());
            EngineScheduler.PeriodicTask renewing = renewals.begin(scheduler, "exactly-once-renewal-");
            EngineScheduler.PeriodicTask watching =
                    scheduler.every(WaitingDeliveries.INTERVAL, "exactly-once-watch-1", waiting::tick);
            return () -> {
                watching.close();
                renewing.close();
            };
        });
    }

    @Bean
    static CommitListenerPostProcessor exactlyOnceCommits() {
        return new CommitListenerPostProcessor();
    }

    @Bean
    @ConditionalOnMissingBean
    ExactlyOnceOperations exactlyOnceOperations(Renewer renewals, ListenerEngine engine) {
        ActionExecutor executions = new ActionExecutor(claims, policy.terms(), renewals, results, scheduler);
        return new DefaultExactlyOnceOperations(executions, engine.readiness());
    }

    /** Created only if the store can list parked claims. A custom store may be unable to do so. */
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(ParkedClaims.class)
    ParkedKeys exactlyOnceParkedKeys(ParkedClaims parked, ListenerEngine engine) {
        return new DefaultParkedKeys(parked, results, engine.readiness());
    }

    @Bean
    ContainerPreparation exactlyOnceContainerFactoryConfigurer(
            Environment environment,
            ListenerEngine engine,
            ObjectProvider<ObservedClaims> observed,
            SharedQueues queues,
            SharedPools pools) {
        return new ContainerPreparation(
                environment,
                Threading.VIRTUAL.isActive(environment),
                engine,
                new ObservedListeners(observed),
                queues,
                pools);
    }

    @Bean(ExactlyOnceListener.CONTAINER_FACTORY)
    ExactlyOnceContainerFactory exactlyOnceListenerContainerFactory(
            ContainerPreparation configurer, ListableBeanFactory beans) {
        return configurer.prepareDefault(beans);
    }

    @Bean(LISTENER_CONFIGURER)
    ExactlyOnceListenerConfigurer exactlyOnceListenerConfigurer(
            ListableBeanFactory beans,
            Environment environment,
            ObjectProvider<ListenerEngine> engine,
            ObjectProvider<ClaimTransaction.Factory> transactions) {
        ListenerModes modes = modes(properties, environment);
        return new ExactlyOnceListenerConfigurer(beans, modes, (manager, own, named) -> {
            ListenerEngine its = engine.getObject();
            // The readiness check may create the claim table. factory.create(..) reads this table, so the check must
            // run first.
            its.readiness().run();
            ClaimTransaction.Factory factory = transactions.getIfAvailable(() -> {
                throw new UnsupportedTransactionException(
                        "claims are kept by a ClaimStore other than PostgreSQL's, which shares no transactions with handlers",
                        "use effects = EXTERNAL; for effects in DynamoDB, with DynamoDbCompletion in the handler's own transaction",
                        null);
            });
            return its.breakers().guard(factory.create(manager, own, named), nameOf(manager, beans));
        });
    }

    /**
     * Makes the library's configurer for Spring Cloud AWS run last. Otherwise the configurer of an application or of
     * another library could overwrite the library's settings.
     */
    @Bean
    static BeanDefinitionRegistryPostProcessor exactlyOnceListenerConfigurerIsLast() {
        return beans -> {
            BeanDefinition configurer = beans.getBeanDefinition(LISTENER_CONFIGURER);
            beans.removeBeanDefinition(LISTENER_CONFIGURER);
            beans.registerBeanDefinition(LISTENER_CONFIGURER, configurer);
        };
    }

    private static String nameOf(PlatformTransactionManager manager, ListableBeanFactory beans) {
        return beans.getBeansOfType(PlatformTransactionManager.class, false, false).entrySet().stream()
                .filter(bean -> bean.getValue() == manager)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseGet(manager::toString);
    }

    /**
     * Creates listener beans at startup, even with lazy initialization. Otherwise nothing would create them, their
     * queues would not be polled, and no log line would say so.
     */
    @Bean
    static LazyInitializationExcludeFilter exactlyOnceListenersAreNotLazy(BeanFactory beans) {
        return (name, definition, type) ->
                ExactlyOnceAdvisor.isListener(type) || mayBeListener(definition, type, beans);
    }

    /**
     * Returns true for a {@code @Bean} method whose return type is an interface or an abstract class of the
     * application. The returned object may be a listener, even if the return type has no annotated method.
     */
    private static boolean mayBeListener(BeanDefinition definition, Class<?> type, BeanFactory beans) {
        return definition.getFactoryMethodName() != null
                && Modifier.isAbstract(type.getModifiers())
                && AutoConfigurationPackages.has(beans)
                && AutoConfigurationPackages.get(beans).stream()
                        .anyMatch(own -> (type.getPackageName() + ".").startsWith(own + "."));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static ExactlyOnceAdvisor exactlyOnceAdvisor(ObjectProvider<ListenerEngine> engine, Environment environment) {
        // Spring creates this advisor before it can create the bean ExactlyOnceProperties. So the properties are read
        // directly from the environment.
        ExactlyOnceProperties bound = Binder.get(environment).bindOrCreate("exactly-once", ExactlyOnceProperties.class);
        return new ExactlyOnceAdvisor(() -> engine.getObject().pipeline(), modes(bound, environment));
    }

    private static ListenerModes modes(ExactlyOnceProperties properties, Environment environment) {
        Map<String, ListenerModes.Own> own = new HashMap<>();
        properties
                .listeners()
                .forEach((id, listener) -> own.put(
                        id,
                        new ListenerModes.Own(
                                listener.mode(),
                                listener.timeout(),
                                listener.onMismatch(),
                                listener.whenKeyMissing(),
                                listener.maxAttempts())));
        return new ListenerModes(environment, properties.mode(), own);
    }

    /** Lazy, because only listeners in observe mode need this bean. */
    @Bean
    @Lazy
    ObservedCounts exactlyOnceObservedCounts() {
        return new ObservedCounts(scheduler);
    }

    /**
     * Creates the bean that records claims in observe mode. The bean has its own thread, so startup does not wait for
     * the check of the claim store. The thread's task queue needs no limit, because {@link ObservedClaims} already
     * limits how many claims wait to be recorded.
     */
    @Bean
    @Lazy
    ObservedClaims exactlyOnceObservedClaims(List<ObservationCounter> counters, ObjectProvider<ClaimBackend> backends) {
        Runnable readiness = () -> backends.forEach(ClaimBackend::requireReady);
        Executor thread = SystemScheduler.thread("exactly-once-observing-1", Integer.MAX_VALUE);
        return new ObservedClaims(store, policy, readiness, counters, thread, ObservedClaims.MOST_IN_PROGRESS);
    }

    /** Makes Spring apply the library's advice, even with {@code spring.aop.auto=false}. */
    static final class AutoProxyCreator implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importer, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }
}
