package io.exactlyonce.listener.method;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.annotation.SqsListener;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.framework.autoproxy.ProxyCreationContext;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * The proxies of a listener's bean, from the outermost, which the container calls, to the innermost, which calls the
 * object. A bean has several proxies if the application has several automatic proxy creators.
 *
 * <p>Each automatic proxy of a listener that claims keys is a subclass of the bean's class. A proxy of interfaces would
 * have the parameters of the interface's methods, whose type variables may be unresolved. A subclass cannot override
 * private or final methods. A call of such a method runs on the proxy itself, whose fields are null.
 *
 * @param all the proxies from the outermost; empty if the bean has no proxy
 * @param target the object behind the proxies; the innermost proxy if its object can change
 */
record ListenerProxies(List<Advised> all, Object target) {

    /**
     * Annotations of methods that frameworks call through the bean's proxy. Annotations of lifecycle methods are not in
     * this list, because Spring calls lifecycle methods on the object behind the proxy.
     */
    private static final List<String> CALLED_ON_THE_BEAN = List.of(
            SqsListener.class.getName(),
            SqsHandler.class.getName(),
            MessageMapping.class.getName(),
            "org.springframework.scheduling.annotation.Scheduled",
            "org.springframework.context.event.EventListener",
            "org.springframework.web.bind.annotation.Mapping",
            "org.springframework.jmx.export.annotation.ManagedOperation",
            "org.springframework.jmx.export.annotation.ManagedAttribute");

    static ListenerProxies of(Object bean) {
        List<Advised> all = new ArrayList<>();
        Object behind = bean;
        while (AopUtils.isAopProxy(behind) && behind instanceof Advised advised) {
            all.add(advised);
            Object next = AopProxyUtils.getSingletonTarget(behind);
            if (next == null) {
                break;
            }
            behind = next;
        }
        return new ListenerProxies(all, behind);
    }

    /** Returns the advisors around a method, from the outermost. */
    List<Advisor> around(Method method) {
        List<Advisor> around = new ArrayList<>();
        for (Advised proxy : all) {
            around.addAll(around(proxy, method));
        }
        return around;
    }

    private List<Advisor> around(Advised proxy, Method method) {
        Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(target));
        List<Advisor> around = new ArrayList<>();
        for (Advisor advisor : proxy.getAdvisors()) {
            if (!(advisor instanceof PointcutAdvisor with)
                    || (with.getPointcut().getClassFilter().matches(type)
                            && with.getPointcut().getMethodMatcher().matches(method, type))) {
                around.add(advisor);
            }
        }
        return around;
    }

    /**
     * Returns the proxy in which the transaction of a method's claim begins; {@code null} if no proxy claims keys.
     *
     * <p>If several proxies claim keys, returns the innermost of them that is not inside an application's transaction.
     * In this way advice such as retries stays outside of the claim's transaction.
     */
    @Nullable Advised beginning(Method method) {
        Advised beginning = null;
        for (Advised proxy : all) {
            for (Advisor advisor : around(proxy, method)) {
                if (advisor instanceof ExactlyOnceAdvisor) {
                    beginning = proxy;
                } else if (beginning != null && TransactionRules.begins(advisor, method, target)) {
                    return beginning;
                }
            }
        }
        return beginning;
    }

    /** Returns the advisors around a method that run inside the claim's transaction, from the outermost. */
    List<Advisor> withinTransaction(Method method) {
        Advised beginning = beginning(method);
        List<Advisor> within = new ArrayList<>();
        boolean isWithin = false;
        for (Advised proxy : all) {
            for (Advisor advisor : around(proxy, method)) {
                if (isWithin) {
                    within.add(advisor);
                }
                isWithin |= proxy == beginning && advisor instanceof ExactlyOnceAdvisor;
            }
        }
        return within;
    }

    /** Returns the advisor that adds the steps of an invocation; {@code null} if no proxy has it. */
    @Nullable ExactlyOnceAdvisor claiming() {
        for (Advised proxy : all) {
            for (Advisor advisor : proxy.getAdvisors()) {
                if (advisor instanceof ExactlyOnceAdvisor claiming) {
                    return claiming;
                }
            }
        }
        return null;
    }

    boolean areFrozen() {
        return all.stream().anyMatch(Advised::isFrozen);
    }

    /**
     * Returns whether calls of a method bypass the object behind the proxy. A method that the proxy cannot override
     * runs on the proxy itself, whose fields are null. Static methods bypass the object, too.
     *
     * @param type the bean's class
     */
    static boolean isBypassedBy(Method method, Class<?> type) {
        int modifiers = method.getModifiers();
        return Modifier.isStatic(modifiers)
                || Modifier.isFinal(modifiers)
                || !isVisible(method, modifiers, ClassUtils.getUserClass(type));
    }

    /**
     * Returns whether a method is visible to a proxy, so that the proxy can override the method. The proxy is in the
     * package of the bean's class.
     */
    private static boolean isVisible(Method method, int modifiers, Class<?> type) {
        if (Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers)) {
            return true;
        }
        Class<?> declaring = method.getDeclaringClass();
        return !Modifier.isPrivate(modifiers)
                && declaring.getPackageName().equals(type.getPackageName())
                && declaring.getClassLoader() == type.getClassLoader();
    }

    /**
     * Rejects a bean if frameworks call a method of the bean that a proxy cannot override. The method would run on the
     * proxy itself, whose fields are null.
     *
     * @throws InvalidListenerException if the bean has such a method
     */
    static void requireOthersFit(ListenerDeclaration listener, Class<?> type, ListenerModes modes) {
        MethodFilter broken = method -> !Modifier.isStatic(method.getModifiers())
                && isBypassedBy(method, type)
                && isCalledOnTheBean(method)
                && !isClaimed(type, method, modes);
        MethodIntrospector.selectMethods(type, broken).stream().findFirst().ifPresent(method -> {
            throw listener.refused(
                    "its bean gets a proxy that claims keys, and %s cannot be called through it, so it would run on the proxy, whose fields are null"
                            .formatted(ClassUtils.getQualifiedMethodName(method)),
                    "make %s neither private nor final, and public if it is inherited from another package; or move it to another bean"
                            .formatted(method.getName()));
        });
    }

    private static boolean isCalledOnTheBean(Method method) {
        MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return CALLED_ON_THE_BEAN.stream().anyMatch(annotations::isPresent);
    }

    /**
     * Returns whether a method is a listener that claims keys. {@link ListenerRules} reject such a method if a proxy
     * cannot override it.
     */
    private static boolean isClaimed(Class<?> type, Method method, ListenerModes modes) {
        ListenerDeclaration declared = ListenerDeclaration.find(type, method);
        return declared != null && !modes.isObserved(declared);
    }

    /**
     * Lets Spring create the bean's proxy as a subclass of the bean's class. Has an effect only while Spring searches
     * the bean's advice, because Spring reads the setting afterwards.
     */
    static void extendClass(BeanFactory beans) {
        String bean = ProxyCreationContext.getCurrentProxiedBeanName();
        if (bean != null
                && beans instanceof ConfigurableListableBeanFactory definitions
                && definitions.containsBeanDefinition(bean)) {
            definitions.getBeanDefinition(bean).setAttribute(AutoProxyUtils.PRESERVE_TARGET_CLASS_ATTRIBUTE, true);
        }
    }
}
