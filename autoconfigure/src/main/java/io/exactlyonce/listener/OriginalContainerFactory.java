package io.exactlyonce.listener;

import io.awspring.cloud.sqs.config.EndpointRegistrar;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import java.util.function.Supplier;
import org.springframework.beans.factory.BeanFactory;

/** Finds the factory that plain {@code @SqsListener} methods use: awspring's default one, or the application's own. */
public final class OriginalContainerFactory implements Supplier<SqsMessageListenerContainerFactory<Object>> {

    private final BeanFactory beans;

    public OriginalContainerFactory(BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    @SuppressWarnings("unchecked") // A factory's type parameter is that of payloads, which are converted later.
    public SqsMessageListenerContainerFactory<Object> get() {
        String usual = EndpointRegistrar.DEFAULT_LISTENER_CONTAINER_FACTORY_BEAN_NAME;
        return beans.containsBean(usual)
                ? beans.getBean(usual, SqsMessageListenerContainerFactory.class)
                : beans.getBean(SqsMessageListenerContainerFactory.class);
    }
}
