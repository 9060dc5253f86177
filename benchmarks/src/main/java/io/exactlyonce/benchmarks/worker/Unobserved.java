package io.exactlyonce.benchmarks.worker;

import io.exactlyonce.delivery.DeliveryObservers;
import java.util.List;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;

/**
 * Removes everything that observes deliveries: meters, the watch on visibility timeouts, the log context, observations,
 * application events, and the data for audit and endpoint. Applications cannot do this. Scenario (i) compares with it.
 */
@ConditionalOnProperty("bench.unobserved")
class Unobserved implements BeanDefinitionRegistryPostProcessor {

    private static final String OBSERVERS = "exactlyOnceObservers";

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        RootBeanDefinition none =
                new RootBeanDefinition(DeliveryObservers.class, () -> new DeliveryObservers(List.of()));
        // Fails intentionally if the starter no longer has such a bean.
        registry.removeBeanDefinition(OBSERVERS);
        registry.registerBeanDefinition(OBSERVERS, none);
    }
}
