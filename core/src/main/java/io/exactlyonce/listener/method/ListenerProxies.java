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
import org.springframework.aop.TargetSource;
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
 * Spring's proxies around a listener's bean. Usually there is one. An application with several automatic proxy creators
 * may have several.
 *
 * <p>If a listener claims keys, its automatic proxies must be subclasses of the bean's class. The methods of an
 * interface are not enough: their parameters may have other types, such as an unresolved {@code T}.
 *
 * <p>A subclass cannot override private or final methods. Such a method would run on the proxy itself, whose fields are
 * null.
 *
 * @param all the proxies from the outermost, which the container calls, to the innermost; empty if the bean has no
 *     proxy
 * @param target the bean itself, or the innermost proxy if that proxy is opaque or its bean may change at runtime
 */
record ListenerProxies(List<Advised> all, Object target) {

    /**
     * Annotations of methods that frameworks call through the bean's proxy, so the proxy must be able to override these
     * methods. Lifecycle annotations are not listed, because Spring calls lifecycle methods on the bean itself.
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
     * Returns the proxy that begins the transaction in which a method's key is claimed; {@code null} if no proxy claims
     * keys.
     *
     * <p>If several proxies claim keys, returns the innermost one whose advice still comes before the transaction of
     * {@code @Transactional}. Retries of the outer proxies are then outside of the claim's transaction.
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

    /** Returns the advice that claims keys; {@code null} if no proxy has it. */
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

    /** Returns whether the innermost proxy does not show its advice and its bean. */
    boolean areOpaque() {
        return AopUtils.isAopProxy(target) && !(target instanceof Advised);
    }

    /**
     * Returns what may exchange the bean, or make it later; {@code null} if the bean is always the same. A later bean
     * may have proxies of its own, whose advice nothing has checked.
     */
    @Nullable TargetSource exchanging() {
        return AopUtils.isAopProxy(target) && target instanceof Advised innermost ? innermost.getTargetSource() : null;
    }

    boolean areFrozen() {
        return all.stream().anyMatch(Advised::isFrozen);
    }

    /**
     * Returns whether a call of a method bypasses the proxy, because the method is static, final or not visible to the
     * proxy.
     *
     * @param type the bean's class
     */
    static boolean isBypassedBy(Method method, Class<?> type) {
        int modifiers = method.getModifiers();
        return Modifier.isStatic(modifiers)
                || Modifier.isFinal(modifiers)
                || !isVisible(method, modifiers, ClassUtils.getUserClass(type));
    }

    /** Returns whether the proxy, which is in the package of the bean's class, can override a method. */
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
     * Rejects a bean if its proxy would break a method that frameworks call. For example, a proxy cannot override a
     * private {@code @Scheduled} method. The method would run on the proxy itself, whose fields are null.
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

    /** Returns whether a method is a listener that claims keys. {@link ListenerRules} check such methods. */
    private static boolean isClaimed(Class<?> type, Method method, ListenerModes modes) {
        ListenerDeclaration declared = ListenerDeclaration.find(type, method);
        return declared != null && !modes.isObserved(declared);
    }

    /**
     * Makes Spring create the bean's proxy as a subclass of the bean's class. Must be called while Spring collects the
     * bean's advice, just before Spring creates the proxy.
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
