package io.exactlyonce.benchmarks.worker;

import io.exactlyonce.delivery.DeliveryObservers;
import java.util.List;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;

/**
 * Takes out all that observes deliveries: meters, the watch on windows, the log's context, observations, application events, and
 * what the audit and the endpoint know of listeners. No application can do so: it is what scenario (i) compares with.
 */
@ConditionalOnProperty("bench.unobserved")
class Unobserved implements BeanDefinitionRegistryPostProcessor {

    private static final String OBSERVERS = "exactlyOnceObservers";

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        RootBeanDefinition none =
                new RootBeanDefinition(DeliveryObservers.class, () -> new DeliveryObservers(List.of()));
        // Fails, as it should, if the starter has no such bean any more.
        registry.removeBeanDefinition(OBSERVERS);
        registry.registerBeanDefinition(OBSERVERS, none);
    }
}
