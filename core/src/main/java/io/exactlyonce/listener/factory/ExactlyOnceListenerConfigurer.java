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
 * Creates all beans with listeners, and then adds this library's argument resolver and handler methods to those of the
 * application. This configurer must be the last one, because a later one could replace what is added here. Startup
 * fails if a later one does so.
 */
public final class ExactlyOnceListenerConfigurer
        implements SqsListenerConfigurer, ApplicationListener<ContextRefreshedEvent> {

    private final BeanFactory beans;
    private final ListenerMethodReader methods;

    /**
     * Makes a configurer.
     *
     * @param beans contains reconcilers and transaction managers
     * @param modes has the listeners' modes, and resolves {@code ${...}} in text attributes of the annotation
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
        // Spring Cloud AWS's last resolver treats every parameter as the payload, so this library's resolver comes
        // first.
        registrar.manageMethodArgumentResolvers(registrar
                .getMethodArgumentResolversConsumer()
                .andThen(resolvers -> resolvers.add(0, new ClaimArgumentResolver())));
        registrar.setMessageHandlerMethodFactory(
                new DeliveryHandlerMethodFactory(registrar.getMessageHandlerMethodFactory(), methods));
    }

    /** Rejects listeners in a child context without this library. The check runs when the child context starts. */
    @Override
    public void onApplicationEvent(ContextRefreshedEvent started) {
        if (started.getApplicationContext() instanceof ConfigurableApplicationContext child
                && child.getBeanFactory() != beans) {
            ListenerBeans.requireNoListener(child.getBeanFactory(), "child");
        }
    }
}
