package io.exactlyonce.autoconfigure;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.claim.ClaimIdGenerator;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.UnsupportedTransactionException;
import io.exactlyonce.claim.postgres.startup.ClaimDatabase;
import io.exactlyonce.claim.postgres.transaction.PostgresClaimTransactionFactory;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.CompositeDeliveryObserver;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.delivery.StoredResults;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.pipeline.FutureThreads;
import io.exactlyonce.delivery.waiting.KeyWatcher;
import io.exactlyonce.delivery.waiting.StoreCircuitBreakers;
import io.exactlyonce.listener.ExactlyOnceContainerFactory;
import io.exactlyonce.listener.ExactlyOnceContainerFactoryConfigurer;
import io.exactlyonce.listener.ExactlyOnceListenerConfigurer;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.listener.container.PlainListenerWarning;
import io.exactlyonce.listener.method.ExactlyOnceAdvisor;
import io.exactlyonce.operations.ActionExecutor;
import io.exactlyonce.operations.DefaultExactlyOnceOperations;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.window.watch.WindowLog;
import io.exactlyonce.window.watch.WindowObserver;
import io.exactlyonce.window.watch.WindowWatch;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
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
@Import({AutoProxyCreatorRegistrar.class, ClaimStoreConfiguration.class, RetentionConfiguration.class})
public final class ExactlyOnceAutoConfiguration {

    private static final String OBSERVERS = "exactlyOnceObservers";

    /** No candidate for injection: it is no observer for itself. */
    @Bean(name = OBSERVERS, defaultCandidate = false)
    CompositeDeliveryObserver exactlyOnceObservers(ObjectProvider<DeliveryObserver> observers) {
        return new CompositeDeliveryObserver(observers.orderedStream().toList());
    }

    @Bean
    RenewalLifecycle exactlyOnceRenewals(
            ClaimStore store,
            ExactlyOnceProperties properties,
            @Qualifier(OBSERVERS) CompositeDeliveryObserver observers) {
        ExactlyOnceProperties.Renewal renewal = properties.renewal();
        RenewalSchedule schedule =
                new RenewalSchedule(renewal.enabled(), renewal.at(), renewal.jitter(), renewal.retries());
        return new RenewalLifecycle(store, schedule, observers);
    }

    @Bean
    @ConditionalOnProperty(name = "exactly-once.renewal.enabled", havingValue = "false")
    StaticWindowAudit exactlyOnceStaticWindowAudit() {
        return new StaticWindowAudit();
    }

    @Bean
    WindowWatch exactlyOnceWindowWatch(ExactlyOnceProperties properties, ObjectProvider<WindowObserver> observers) {
        return new WindowWatch(
                properties.renewal().enabled(), observers.orderedStream().toList(), System::nanoTime);
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
    WatchLifecycle exactlyOnceKeyWatch(
            ClaimStore store, Deliveries deliveries, StoreCircuitBreakers breakers, ExactlyOnceProperties properties) {
        SimpleAsyncTaskExecutor probes = new SimpleAsyncTaskExecutor("exactly-once-probe-");
        probes.setDaemon(true);
        return new WatchLifecycle(
                new KeyWatcher(store, deliveries.waiters(), breakers, terms(properties), probes, System::nanoTime));
    }

    @Bean
    Deliveries exactlyOnceDeliveries(
            RenewalLifecycle renewals,
            ExactlyOnceProperties properties,
            @Qualifier(OBSERVERS) CompositeDeliveryObserver observers) {
        return new Deliveries(
                renewals.supervisor(),
                observers,
                backoff(properties),
                System::nanoTime,
                ExactlyOnceAutoConfiguration::random,
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
            ClaimStore store,
            ParkedClaims parked,
            RenewalLifecycle renewals,
            ExactlyOnceProperties properties,
            StoredResults results,
            ObjectProvider<ClaimDatabase> database) {
        ActionExecutor executions =
                new ActionExecutor(store, terms(properties), renewals.supervisor(), results, System::nanoTime);
        return new DefaultExactlyOnceOperations(executions, parked, results, () -> requireReady(database));
    }

    private static void requireReady(ObjectProvider<ClaimDatabase> database) {
        database.ifAvailable(ClaimDatabase::requireReady);
    }

    /** Returns what awaits the check's end. There is none to make for a store of the application's own. */
    private static Runnable beginCheck(ObjectProvider<ClaimDatabase> database) {
        ClaimDatabase claims = database.getIfAvailable();
        if (claims == null) {
            return () -> {};
        }
        claims.beginCheck();
        return claims::awaitCheck;
    }

    private static ClaimSettings terms(ExactlyOnceProperties properties) {
        return new ClaimSettings(
                ManagementFactory.getRuntimeMXBean().getName(),
                properties.claim().lease(),
                properties.claim().onMismatch(),
                new ClaimIdGenerator(System::nanoTime)::next);
    }

    @Bean
    DeliveryPipeline exactlyOncePipeline(
            ClaimStore store,
            StoreCircuitBreakers breakers,
            ExactlyOnceProperties properties,
            StoredResults results,
            @Qualifier(OBSERVERS) CompositeDeliveryObserver observers,
            CompletionLifecycle completions) {
        return new DeliveryPipeline(
                breakers.guard(store),
                terms(properties),
                backoff(properties),
                results,
                observers,
                System::nanoTime,
                ExactlyOnceAutoConfiguration::random,
                new FutureThreads(completions::execute, new SimpleAsyncTaskExecutor("exactly-once-cancellation-")));
    }

    @Bean
    CompletionLifecycle exactlyOnceCompletions(ExactlyOnceProperties properties) {
        return new CompletionLifecycle(properties.datasource().maximumPoolSize());
    }

    private static double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    private static RetryBackoff backoff(ExactlyOnceProperties properties) {
        return new RetryBackoff(
                properties.retry().initialDelay(), properties.retry().maxDelay());
    }

    @Bean
    ExactlyOnceContainerFactoryConfigurer exactlyOnceContainerFactoryConfigurer(
            Environment environment,
            ObjectProvider<ClaimDatabase> database,
            Deliveries deliveries,
            StoreCircuitBreakers breakers,
            @Qualifier(OBSERVERS) CompositeDeliveryObserver observers) {
        return new ExactlyOnceContainerFactoryConfigurer(
                environment,
                () -> new ListenerEngine(deliveries, breakers, observers, System::nanoTime, beginCheck(database)));
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
            JacksonResultSerializer results,
            ExactlyOnceProperties properties,
            ObjectProvider<StoreCircuitBreakers> breakers,
            ObjectProvider<ClaimDatabase> database,
            @Qualifier(ClaimStoreConfiguration.DATA_SOURCE) ObjectProvider<PrimaryPinnedDataSource> claims) {
        return new ExactlyOnceListenerConfigurer(beans, environment, results, (manager, named) -> {
            // A transaction proves itself on the table, which may have to be created first.
            database.ifAvailable(ClaimDatabase::awaitCheck);
            ClaimTransaction transaction =
                    transactions(beans, claims.getIfAvailable(), properties).of(manager, named);
            return breakers.getObject().guard(transaction, nameOf(manager, beans));
        });
    }

    private static String nameOf(PlatformTransactionManager manager, ListableBeanFactory beans) {
        return beans.getBeansOfType(PlatformTransactionManager.class, false, false).entrySet().stream()
                .filter(bean -> bean.getValue() == manager)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseGet(manager::toString);
    }

    private static PostgresClaimTransactionFactory transactions(
            BeanFactory beans, @Nullable PrimaryPinnedDataSource claims, ExactlyOnceProperties properties) {
        if (claims == null) {
            throw new UnsupportedTransactionException(
                    "claims are kept by a ClaimStore of the application's own, which shares no transactions with handlers",
                    "use effects = EXTERNAL",
                    null);
        }
        return new PostgresClaimTransactionFactory(
                claims,
                beans,
                properties.claim().retention(),
                properties.claim().synchronousCommit());
    }

    @Bean
    PlainListenerWarning exactlyOncePlainListenerWarning(ListableBeanFactory beans) {
        return new PlainListenerWarning(beans);
    }

    /** With lazy initialisation nothing else would make a listener's bean, and nothing would say that its queue is not read. */
    @Bean
    static LazyInitializationExcludeFilter exactlyOnceListenersAreNotLazy() {
        return (name, definition, type) -> ExactlyOnceAdvisor.isListener(type);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static ExactlyOnceAdvisor exactlyOnceAdvisor(ObjectProvider<DeliveryPipeline> pipeline, BeanFactory beans) {
        return new ExactlyOnceAdvisor(
                pipeline::getObject,
                () -> beans.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME, ProxyConfig.class)
                        .isProxyTargetClass());
    }
}
