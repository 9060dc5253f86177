package io.exactlyonce.listener.factory;

import io.awspring.cloud.sqs.config.EndpointRegistrar;
import io.awspring.cloud.sqs.config.MessageListenerContainerFactory;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.exactlyonce.listener.method.InvalidListenerException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.util.function.SingletonSupplier;

/**
 * Finds the container factory that plain {@code @SqsListener} methods use. This is the factory that the application
 * names in an {@code SqsListenerConfigurer}, or else the factory with the default name. If there is neither, it is the
 * application's only or primary factory.
 */
final class DefaultContainerFactory implements Supplier<MessageListenerContainerFactory<?>> {

    private static final String USUAL = EndpointRegistrar.DEFAULT_LISTENER_CONTAINER_FACTORY_BEAN_NAME;

    private static final String DECLARE =
            "declare a bean '%s' of type SqsMessageListenerContainerFactory with the application's SqsAsyncClient; "
                    + "Spring Cloud AWS's SqsAutoConfiguration has one unless it is excluded";

    private static final String CHOOSE =
            "name one of them at EndpointRegistrar#setDefaultListenerContainerFactoryBeanName in an SqsListenerConfigurer, "
                    + "mark one as @Primary, or pass one to ExactlyOnceContainerFactoryConfigurer#prepare and name that "
                    + "bean in factory of @ExactlyOnceListener";

    private final ListableBeanFactory beans;
    private final Supplier<MessageListenerContainerFactory<?>> found = SingletonSupplier.of(this::find);

    DefaultContainerFactory(ListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public MessageListenerContainerFactory<?> get() {
        return found.get();
    }

    private MessageListenerContainerFactory<?> find() {
        String name = name();
        if (beans.containsBean(name)) {
            return named(name);
        }
        if (!name.equals(USUAL)) {
            throw new InvalidListenerException(
                    "EndpointRegistrar#setDefaultListenerContainerFactoryBeanName names '%s', and there is no such bean"
                            .formatted(name),
                    DECLARE.formatted(name));
        }
        return only();
    }

    private MessageListenerContainerFactory<?> named(String name) {
        Object bean = beans.getBean(name);
        if (bean instanceof PreparedContainerFactory prepared) {
            // An application may name a prepared factory, which contains another factory. The factory inside is used.
            // The starter's own prepared factory contains the result of this search, so that name is ignored.
            return !prepared.isOver(this) ? prepared.original() : beans.containsBean(USUAL) ? named(USUAL) : only();
        }
        if (bean instanceof MessageListenerContainerFactory<?> factory) {
            return factory;
        }
        throw new InvalidListenerException(
                "The default container factory '%s' is a %s"
                        .formatted(name, bean.getClass().getName()),
                DECLARE.formatted(name));
    }

    private MessageListenerContainerFactory<?> only() {
        try {
            MessageListenerContainerFactory<?> factory = beans.getBeanProvider(SqsMessageListenerContainerFactory.class)
                    .getIfAvailable();
            if (factory == null) {
                throw new InvalidListenerException(
                        "There is no container factory whose containers could claim keys", DECLARE.formatted(USUAL));
            }
            return factory;
        } catch (NoUniqueBeanDefinitionException several) {
            List<String> names = Arrays.asList(beans.getBeanNamesForType(SqsMessageListenerContainerFactory.class));
            throw new InvalidListenerException(
                    "Several container factories could make the containers of listeners that name none: "
                            + String.join(", ", names),
                    CHOOSE);
        }
    }

    /**
     * Returns the name of the default container factory. The application can set it at the registrar, which has no
     * getter for it. So the application's configurers are called with another registrar, which only stores the name.
     */
    private String name() {
        Listening registrar = new Listening();
        beans.getBeansOfType(SqsListenerConfigurer.class).values().stream()
                .filter(configurer -> !(configurer instanceof ExactlyOnceListenerConfigurer))
                .forEach(configurer -> configurer.configure(registrar));
        return registrar.name;
    }

    /** A registrar that registers nothing. */
    private static final class Listening extends EndpointRegistrar {

        private String name = USUAL;

        @Override
        public void setDefaultListenerContainerFactoryBeanName(String given) {
            super.setDefaultListenerContainerFactoryBeanName(given);
            name = given;
        }
    }
}
