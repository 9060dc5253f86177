package io.exactlyonce.listener.factory;

import io.exactlyonce.listener.method.ExactlyOnceAdvisor;
import io.exactlyonce.listener.method.InvalidListenerException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ConcurrentReferenceHashMap;

/**
 * Makes sure that each listener gets a container. Spring Cloud AWS makes the containers once, after the singletons are
 * created. If the bean of a listener were created later, the listener would silently get no container. So this class
 * creates lazy beans before the containers are made. If a bean can only be created later, for example because of its
 * scope, startup fails. If the declared type of a bean hides its listener methods, the bean cannot be recognized at
 * startup. When such a bean is created later, an exception is thrown.
 */
final class ListenerBeans implements BeanPostProcessor {

    private final ConfigurableListableBeanFactory beans;
    private final Map<Class<?>, Boolean> listeners = new ConcurrentReferenceHashMap<>();

    ListenerBeans(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Creates beans that have listeners and do not exist yet. Must be called before containers are made.
     *
     * @throws InvalidListenerException if a listener would get no container, for example because its bean can only be
     *     created later
     */
    void createAll() {
        Set<String> names = new LinkedHashSet<>(List.of(beans.getBeanDefinitionNames()));
        names.addAll(List.of(beans.getSingletonNames()));
        for (String name : names) {
            if (!isCreated(name) && isListener(beans, name)) {
                requireSingleton(name);
                beans.getBean(name);
            }
        }
        BeanFactory parent = beans.getParentBeanFactory();
        while (parent instanceof ConfigurableListableBeanFactory others) {
            requireNoListener(others, "parent");
            parent = others.getParentBeanFactory();
        }
        beans.addBeanPostProcessor(this);
    }

    /**
     * Returns whether this context created a bean from its own definition, so that Spring Cloud AWS has read the bean's
     * listeners. Returns false for an object that was registered ready-made. Also returns false for the object of a
     * {@code FactoryBean}, which may not exist yet.
     */
    private boolean isCreated(String name) {
        return beans.containsSingleton(name) && beans.containsBeanDefinition(name) && !beans.isFactoryBean(name);
    }

    private static boolean isListener(ConfigurableListableBeanFactory beans, String name) {
        if (beans.containsBeanDefinition(name)
                && beans.getMergedBeanDefinition(name).isAbstract()) {
            return false;
        }
        Class<?> type = beans.getType(name, false);
        return type != null && ExactlyOnceAdvisor.isListener(type);
    }

    private void requireSingleton(String name) {
        String target = ScopedProxyUtils.getTargetBeanName(name);
        String defined = beans.containsBeanDefinition(target) ? target : name;
        if (!beans.containsBeanDefinition(defined)) {
            throw refused(
                    name,
                    "it was registered as a finished object, so no container is made for its listener",
                    "register a bean definition instead, for example by registerBean");
        }
        String scope = beans.getMergedBeanDefinition(defined).getScope();
        if (!beans.isSingleton(defined)) {
            throw refused(
                    name,
                    beans.isFactoryBean(defined)
                            ? "its factory bean makes a new object for each use, but a listener's container calls one object"
                            : "its scope is '%s', but a listener's container calls one object while it runs"
                                    .formatted(scope),
                    "make it a singleton, and move to another bean whatever needs another scope");
        }
        if (!defined.equals(name)) {
            throw refused(
                    name,
                    "it has a scoped proxy although its scope is singleton, so bean and proxy would each get a container",
                    "leave out proxyMode of @Scope");
        }
    }

    /**
     * Rejects listeners in a parent or child context without this library, because they would get no container.
     *
     * @param relation {@code parent} or {@code child}
     * @throws InvalidListenerException if the other context has a listener, and not this library
     */
    static void requireNoListener(ConfigurableListableBeanFactory other, String relation) {
        if (other.getBeanNamesForType(ExactlyOnceAdvisor.class, true, false).length > 0) {
            return;
        }
        for (String name : other.getBeanDefinitionNames()) {
            if (isListener(other, name)) {
                throw refused(
                        name,
                        "it is in a %s context without this library, so no container is made for its listener"
                                .formatted(relation),
                        "declare it in the context that has the starter");
            }
        }
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (listeners.computeIfAbsent(AopUtils.getTargetClass(bean), ExactlyOnceAdvisor::isListener)) {
            throw refused(
                    name,
                    "it was created after startup, so no container was made for its listener",
                    "let its bean method return the class of the listener, and leave out @Lazy and scopes");
        }
        return bean;
    }

    private static InvalidListenerException refused(String bean, String problem, String remedy) {
        return new InvalidListenerException(
                "Bean '%s' has @ExactlyOnceListener methods: %s"
                        .formatted(
                                ScopedProxyUtils.isScopedTarget(bean)
                                        ? ScopedProxyUtils.getOriginalBeanName(bean)
                                        : bean,
                                problem),
                remedy);
    }
}
