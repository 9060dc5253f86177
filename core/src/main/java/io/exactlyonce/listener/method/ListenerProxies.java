package io.exactlyonce.listener.method;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;

/**
 * The proxies of a listener's bean, from the one that its container calls to the one around the object. Several automatic proxy creators
 * make several.
 *
 * @param all at least one
 * @param target the object behind them, or the innermost proxy if its object changes
 */
record ListenerProxies(List<Advised> all, Object target) {

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
        Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(target));
        List<Advisor> around = new ArrayList<>();
        for (Advised proxy : all) {
            for (Advisor advisor : proxy.getAdvisors()) {
                if (!(advisor instanceof PointcutAdvisor with)
                        || (with.getPointcut().getClassFilter().matches(type)
                                && with.getPointcut().getMethodMatcher().matches(method, type))) {
                    around.add(advisor);
                }
            }
        }
        return around;
    }

    /** Returns the advisor that claims keys; {@code null} if there is none. */
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
}
