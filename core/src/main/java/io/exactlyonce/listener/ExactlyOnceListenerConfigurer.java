package io.exactlyonce.listener;

import io.awspring.cloud.sqs.config.EndpointRegistrar;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.listener.method.ClaimArgumentResolver;
import io.exactlyonce.listener.method.DeliveryHandlerMethodFactory;
import io.exactlyonce.listener.method.ListenerMethodReader;
import io.exactlyonce.listener.method.ListenerModes;
import org.springframework.beans.factory.BeanFactory;

/**
 * Adds our argument resolver and our handler methods to those that the application has configured. It must be the last of all configurers: one that comes
 * later may replace them, which fails startup with the first listener.
 */
public final class ExactlyOnceListenerConfigurer implements SqsListenerConfigurer {

    private final ListenerMethodReader methods;

    /**
     * Makes a configurer.
     *
     * @param beans where reconcilers and transaction managers are
     * @param modes the listeners' modes; resolves {@code ${...}} in the annotation's text attributes
     * @param transactions makes claim transactions for handlers whose effects are in the database
     */
    public ExactlyOnceListenerConfigurer(
            BeanFactory beans, ListenerModes modes, ClaimTransaction.Factory transactions) {
        this.methods = new ListenerMethodReader(beans, modes, transactions);
    }

    @Override
    public void configure(EndpointRegistrar registrar) {
        // First in the list: Spring Cloud AWS's last resolver treats every parameter as the payload.
        registrar.manageMethodArgumentResolvers(registrar
                .getMethodArgumentResolversConsumer()
                .andThen(resolvers -> resolvers.add(0, new ClaimArgumentResolver())));
        registrar.setMessageHandlerMethodFactory(
                new DeliveryHandlerMethodFactory(registrar.getMessageHandlerMethodFactory(), methods));
    }
}
