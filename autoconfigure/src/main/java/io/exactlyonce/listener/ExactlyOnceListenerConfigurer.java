package io.exactlyonce.listener;

import io.awspring.cloud.sqs.config.EndpointRegistrar;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.exactlyonce.delivery.ResultSerializer;
import io.exactlyonce.listener.method.ClaimArgumentResolver;
import io.exactlyonce.listener.method.DeliveryHandlerMethodFactory;
import io.exactlyonce.listener.method.ListenerBeans;
import io.exactlyonce.listener.method.ListenerMethodReader;
import io.exactlyonce.sighting.ListenerModes;
import org.springframework.beans.factory.BeanFactory;

/** Adds our argument resolver and our handler methods to those that the application has configured. */
public final class ExactlyOnceListenerConfigurer implements SqsListenerConfigurer {

    private final ListenerMethodReader methods;

    /**
     * Makes a configurer.
     *
     * @param beans where container factories and reconcilers are
     * @param modes say which listeners are only observed, and resolve {@code ${...}} in the annotation's text attributes
     * @param results reads stored results
     * @param transactions makes claim transactions for handlers whose effects are in the database
     */
    public ExactlyOnceListenerConfigurer(
            BeanFactory beans,
            ListenerModes modes,
            ResultSerializer results,
            ListenerBeans.ClaimTransactionFactory transactions) {
        this.methods = new ListenerMethodReader(
                modes, new ListenerBeans(beans, ExactlyOnceContainerFactory.class, transactions), results);
    }

    @Override
    public void configure(EndpointRegistrar registrar) {
        // First in the list: awspring's last resolver takes every parameter for the payload.
        ClaimArgumentResolver claims = new ClaimArgumentResolver();
        registrar.manageMethodArgumentResolvers(
                registrar.getMethodArgumentResolversConsumer().andThen(resolvers -> resolvers.add(0, claims)));
        registrar.setMessageHandlerMethodFactory(
                new DeliveryHandlerMethodFactory(registrar.getMessageHandlerMethodFactory(), methods, claims));
    }
}
