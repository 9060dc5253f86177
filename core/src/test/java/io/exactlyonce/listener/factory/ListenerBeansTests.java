package io.exactlyonce.listener.factory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ClaimMode;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ExactlyOnceSetupException;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerModes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.mock.env.MockEnvironment;

/** Tests beans that Spring Cloud AWS detects too late to start their listeners. */
class ListenerBeansTests {

    interface Handler {

        void handle(String order);
    }

    static class Orders implements Handler {

        @Override
        @ExactlyOnceListener("orders")
        public void handle(String order) {}
    }

    static class OrdersFactory implements FactoryBean<Orders> {

        final boolean isSingleton;

        OrdersFactory(boolean isSingleton) {
            this.isSingleton = isSingleton;
        }

        @Override
        public Orders getObject() {
            return new Orders();
        }

        @Override
        public Class<?> getObjectType() {
            return Orders.class;
        }

        @Override
        public boolean isSingleton() {
            return isSingleton;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyClass {
        @Bean
        @Lazy
        Orders orders() {
            return new Orders();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyInterface {
        @Bean
        @Lazy
        Handler orders() {
            return new Orders();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class FactoryOfOne {
        @Bean
        OrdersFactory orders() {
            return new OrdersFactory(true);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class FactoryOfMany {
        @Bean
        OrdersFactory orders() {
            return new OrdersFactory(false);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Prototype {
        @Bean
        @Scope("prototype")
        Orders orders() {
            return new Orders();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ScopedProxy {
        @Bean
        @Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
        Orders orders() {
            return new Orders();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ScopedInterfaceProxy {
        @Bean
        @Scope(scopeName = "thread", proxyMode = ScopedProxyMode.INTERFACES)
        Orders orders() {
            return new Orders();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SingletonWithScopedProxy {
        @Bean
        @Scope(proxyMode = ScopedProxyMode.TARGET_CLASS)
        Orders orders() {
            return new Orders();
        }
    }

    @Lazy
    @Configuration(proxyBeanMethods = false)
    static class LazyConfiguration {
        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Nothing {}

    private final List<Object> seen = new ArrayList<>();

    /** Starts a context, and records in {@link #seen} the listener beans that a post-processor receives. */
    private AnnotationConfigApplicationContext start(
            @Nullable AnnotationConfigApplicationContext parent, Class<?> configuration, Object... registered) {
        var context = new AnnotationConfigApplicationContext();
        if (parent != null) {
            context.setParent(parent);
        }
        context.register(configuration);
        context.getBeanFactory().registerScope("thread", new SimpleThreadScope());
        context.getBeanFactory().addBeanPostProcessor(new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                if (bean instanceof Orders) {
                    seen.add(bean);
                }
                return bean;
            }
        });
        for (Object each : registered) {
            context.getBeanFactory().registerSingleton("orders", each);
        }
        context.refresh();
        new ListenerBeans(context.getBeanFactory()).createAll();
        return context;
    }

    private static void assertRefused(Throwable failure, String problem, String remedy) {
        assertThat(failure).isInstanceOfSatisfying(InvalidListenerException.class, refused -> {
            assertThat(refused.problem()).contains("Bean 'orders' has @ExactlyOnceListener methods", problem);
            assertThat(refused.remedy()).contains(remedy);
        });
    }

    private void assertRefused(Class<?> configuration, String problem, String remedy) {
        assertThatThrownBy(() -> start(null, configuration))
                .satisfies(failure -> assertRefused(failure, problem, remedy));
    }

    @ParameterizedTest
    @ValueSource(classes = {LazyClass.class, LazyConfiguration.class, FactoryOfOne.class})
    void beanThatNothingHasCreatedIsCreatedInTime(Class<?> configuration) {
        start(null, configuration);

        assertThat(seen).hasSize(1);
    }

    @Test
    void beanOfAnotherScopeIsRefusedWithItsScope() {
        assertRefused(Prototype.class, "its scope is 'prototype'", "make it a singleton");
        assertRefused(ScopedProxy.class, "its scope is 'prototype'", "make it a singleton");
        assertRefused(ScopedInterfaceProxy.class, "its scope is 'thread'", "make it a singleton");
    }

    @Test
    void singletonWithAScopedProxyIsRefused() {
        assertRefused(
                SingletonWithScopedProxy.class, "bean and proxy would each get a container", "leave out proxyMode");
    }

    @Test
    void factoryThatMakesNewObjectsIsRefused() {
        assertRefused(FactoryOfMany.class, "its factory bean makes a new object for each use", "make it a singleton");
    }

    @Test
    void finishedObjectIsRefused() {
        assertThatThrownBy(() -> start(null, Nothing.class, new Orders()))
                .satisfies(failure -> assertRefused(failure, "registered as a finished object", "registerBean"));
    }

    @Test
    void beanOfAParentContextWithoutThisLibraryIsRefused() {
        try (var parent = new AnnotationConfigApplicationContext(LazyClass.class)) {
            assertThatThrownBy(() -> start(parent, Nothing.class))
                    .satisfies(failure -> assertRefused(failure, "in a parent context", "declare it in the context"));
        }
    }

    @Test
    void beanOfAChildContextWithoutThisLibraryIsRefused() {
        try (var parent = new AnnotationConfigApplicationContext();
                var child = new AnnotationConfigApplicationContext()) {
            parent.registerBean(
                    ExactlyOnceListenerConfigurer.class,
                    () -> new ExactlyOnceListenerConfigurer(
                            parent.getBeanFactory(),
                            new ListenerModes(new MockEnvironment(), ClaimMode.ENFORCE),
                            (manager, own, named) -> {
                                throw new IllegalStateException("no listener is read");
                            }));
            parent.refresh();
            child.setParent(parent);
            child.register(LazyClass.class);

            assertThatThrownBy(child::refresh)
                    .satisfies(failure -> assertRefused(failure, "in a child context", "declare it in the context"));
        }
    }

    /** The bean's declared type has no listener method, so startup cannot detect the listener. */
    @Test
    void beanThatIsCreatedAfterStartupIsRefused() {
        try (var context = start(null, LazyInterface.class)) {
            assertThat(seen).isEmpty();

            assertThatThrownBy(() -> context.getBean(Handler.class))
                    .rootCause()
                    .isInstanceOf(ExactlyOnceSetupException.class)
                    .satisfies(failure -> assertRefused(failure, "created after startup", "leave out @Lazy"));
        }
    }
}
