package io.exactlyonce.autoconfigure;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.Mode;
import io.exactlyonce.audit.QueueAudit;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.UnsupportedTransactionException;
import io.exactlyonce.claim.postgres.startup.ClaimDatabase;
import io.exactlyonce.claim.postgres.transaction.TransactionCheck;
import io.exactlyonce.delivery.CompositeDeliveryObserver;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import io.exactlyonce.delivery.waiting.StoreCircuitBreakers;
import io.exactlyonce.listener.ExactlyOnceContainerFactory;
import io.exactlyonce.listener.ExactlyOnceContainerFactoryConfigurer;
import io.exactlyonce.listener.ExactlyOnceListenerConfigurer;
import io.exactlyonce.listener.container.ListenerEngine;
import io.exactlyonce.listener.container.ListenerEngine.Readiness;
import io.exactlyonce.listener.container.PlainListenerWarning;
import io.exactlyonce.listener.container.StartLine;
import io.exactlyonce.listener.method.ExactlyOnceAdvisor;
import io.exactlyonce.listener.observed.ObservedContainers;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.sighting.ListenerModes;
import io.exactlyonce.time.Clockwork;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.transaction.PlatformTransactionManager;

/** Listeners: their containers, their methods, and the advice that runs methods under claims. */
@Configuration(proxyBeanMethods = false)
@Import(ListenerConfiguration.AutoProxyCreator.class)
class ListenerConfiguration {

    @Bean
    ExactlyOnceContainerFactoryConfigurer exactlyOnceContainerFactoryConfigurer(
            Environment environment,
            ObjectProvider<ClaimDatabase> database,
            DeliveryPipeline pipeline,
            Deliveries deliveries,
            StoreCircuitBreakers breakers,
            QueueAudit audit,
            ObjectProvider<StartLine.Place> place,
            ClaimStore store,
            ExactlyOnceProperties properties,
            Clockwork clockwork,
            ObservedContainers observing,
            @Qualifier(ExactlyOnceAutoConfiguration.OBSERVERS) CompositeDeliveryObserver observers) {
        return new ExactlyOnceContainerFactoryConfigurer(
                environment,
                () -> new ListenerEngine(
                        pipeline,
                        deliveries,
                        breakers,
                        observers,
                        clockwork,
                        clockwork,
                        audit::require,
                        new StartLine(
                                place.getIfAvailable(() ->
                                        new StartLine.Place(store.getClass().getSimpleName())),
                                properties.claim().retention(),
                                properties.claim().lease(),
                                properties.renewal().schedule()),
                        readiness(database)),
                observing);
    }

    /** There is no check to make for a store of the application's own. */
    private static Readiness readiness(ObjectProvider<ClaimDatabase> database) {
        ClaimDatabase claims = database.getIfAvailable();
        if (claims == null) {
            return () -> {};
        }
        return new Readiness() {
            @Override
            public void begin() {
                claims.beginCheck();
            }

            @Override
            public void run() {
                claims.requireReady();
            }
        };
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
        ListenerModes modes = new ListenerModes(environment, properties.mode());
        return new ExactlyOnceListenerConfigurer(beans, modes, results, (manager, named) -> {
            // A transaction proves itself on the table, which may have to be created first.
            database.ifAvailable(ClaimDatabase::requireReady);
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

    private static TransactionCheck transactions(
            BeanFactory beans, @Nullable PrimaryPinnedDataSource claims, ExactlyOnceProperties properties) {
        if (claims == null) {
            throw new UnsupportedTransactionException(
                    "claims are kept by a ClaimStore other than PostgreSQL's, which shares no transactions with handlers",
                    "use effects = EXTERNAL; for effects in DynamoDB, with DynamoDbCompletion in the handler's own transaction",
                    null);
        }
        return new TransactionCheck(
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
    static ExactlyOnceAdvisor exactlyOnceAdvisor(
            ObjectProvider<DeliveryPipeline> pipeline, BeanFactory beans, Environment environment) {
        // Advice is made before properties are bound for beans.
        Mode mode =
                Binder.get(environment).bind("exactly-once.mode", Mode.class).orElse(Mode.ENFORCE);
        return new ExactlyOnceAdvisor(
                pipeline,
                () -> beans.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME, ProxyConfig.class),
                new ListenerModes(environment, mode));
    }

    /** Makes sure that infrastructure advice is applied at all, also with {@code spring.aop.auto=false}. */
    static final class AutoProxyCreator implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importer, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }
}
