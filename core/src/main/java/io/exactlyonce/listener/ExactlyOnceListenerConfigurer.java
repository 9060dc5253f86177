package io.exactlyonce.listener;

import io.awspring.cloud.sqs.config.EndpointRegistrar;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.delivery.ResultSerializer;
import io.exactlyonce.listener.method.ClaimArgumentResolver;
import io.exactlyonce.listener.method.DeliveryHandlerMethodFactory;
import io.exactlyonce.listener.method.ListenerMethodReader;
import io.exactlyonce.listener.method.ListenerModes;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Adds our argument resolver and our handler methods to those that the application has configured. Before, it has all
 * listeners' beans created.
 */
public final class ExactlyOnceListenerConfigurer implements SqsListenerConfigurer {

    private final BeanFactory beans;
    private final ListenerMethodReader methods;

    /**
     * Makes a configurer.
     *
     * @param beans where container factories and reconcilers are
     * @param modes the listeners' modes; resolves {@code ${...}} in the annotation's text attributes
     * @param results reads stored results
     * @param transactions makes claim transactions for handlers whose effects are in the database
     */
    public ExactlyOnceListenerConfigurer(
            BeanFactory beans, ListenerModes modes, ResultSerializer results, ClaimTransaction.Factory transactions) {
        this.beans = beans;
        this.methods = new ListenerMethodReader(beans, ExactlyOnceContainerFactory.class, modes, results, transactions);
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
}
