package io.exactlyonce.listener;

import io.awspring.cloud.sqs.config.EndpointRegistrar;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.env.Environment;

/** Adds our argument resolver and our handler methods to whatever the application has configured. */
public final class ExactlyOnceListenerConfigurer implements SqsListenerConfigurer {

    private final ListenerMethodFactory methods;

    /**
     * Makes a configurer.
     *
     * @param beans where container factories are
     * @param environment resolves {@code ${...}} in the annotation's text attributes
     */
    public ExactlyOnceListenerConfigurer(BeanFactory beans, Environment environment) {
        this.methods = new ListenerMethodFactory(
                environment::resolveRequiredPlaceholders,
                name -> beans.containsBean(name) && beans.isTypeMatch(name, ExactlyOnceContainerFactory.class));
    }

    @Override
    public void configure(EndpointRegistrar registrar) {
        // First in the list: awspring's last resolver takes every parameter for the payload.
        registrar.manageMethodArgumentResolvers(registrar
                .getMethodArgumentResolversConsumer()
                .andThen(resolvers -> resolvers.add(0, new ClaimArgumentResolver())));
        registrar.setMessageHandlerMethodFactory(
                new DeliveryHandlerMethodFactory(registrar.getMessageHandlerMethodFactory(), methods));
    }
}
