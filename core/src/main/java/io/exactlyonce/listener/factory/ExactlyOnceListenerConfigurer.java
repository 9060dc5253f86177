package io.exactlyonce.listener.factory;

import io.awspring.cloud.sqs.config.EndpointRegistrar;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.listener.method.ClaimArgumentResolver;
import io.exactlyonce.listener.method.DeliveryHandlerMethodFactory;
import io.exactlyonce.listener.method.ListenerMethodReader;
import io.exactlyonce.listener.method.ListenerModes;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Adds our argument resolver and our handler methods to those of the application, after all beans with listeners are
 * created. It must be the last configurer, because a later one may replace what it adds. Then the first listener fails
 * startup.
 */
public final class ExactlyOnceListenerConfigurer
        implements SqsListenerConfigurer, ApplicationListener<ContextRefreshedEvent> {

    private final BeanFactory beans;
    private final ListenerMethodReader methods;

    /**
     * Makes a configurer.
     *
     * @param beans contains reconcilers and transaction managers
     * @param modes the listeners' modes; resolves {@code ${...}} in the annotation's text attributes
     * @param transactions makes claim transactions for handlers whose effects are in the database
     */
    public ExactlyOnceListenerConfigurer(
            BeanFactory beans, ListenerModes modes, ClaimTransaction.Factory transactions) {
        this.beans = beans;
        this.methods = new ListenerMethodReader(beans, modes, transactions);
    }

    @Override
    public void configure(EndpointRegistrar registrar) {
        if (beans instanceof ConfigurableListableBeanFactory all) {
            new ListenerBeans(all).createAll();
        }
        // First in the list: Spring Cloud AWS's last resolver treats every parameter as the payload.
        registrar.manageMethodArgumentResolvers(registrar
                .getMethodArgumentResolversConsumer()
                .andThen(resolvers -> resolvers.add(0, new ClaimArgumentResolver())));
        registrar.setMessageHandlerMethodFactory(
                new DeliveryHandlerMethodFactory(registrar.getMessageHandlerMethodFactory(), methods));
    }

    /** Checks a child context when it starts, because only then it is known. */
    @Override
    public void onApplicationEvent(ContextRefreshedEvent started) {
        if (started.getApplicationContext() instanceof ConfigurableApplicationContext child
                && child.getBeanFactory() != beans) {
            ListenerBeans.requireNoListener(child.getBeanFactory(), "child");
        }
    }
}
