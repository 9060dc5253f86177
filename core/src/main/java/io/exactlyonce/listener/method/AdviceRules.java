package io.exactlyonce.listener.method;

import io.exactlyonce.Effects;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.aop.Advisor;
import org.springframework.aop.TargetSource;
import org.springframework.aop.aspectj.AspectJPrecedenceInformation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Rejects a listener if advice around its method would break the exactly-once guarantee. For example, a time limiter
 * ends a call while the method still works, so another delivery could claim the key. The checks throw {@link
 * InvalidListenerException}.
 */
record AdviceRules(ListenerDeclaration declared, ListenerProxies proxies) {

    /** Interceptors that retry, by class name, because an application may not have these classes. */
    private static final Set<String> RETRIES = Set.of(
            "org.springframework.retry.annotation.AnnotationAwareRetryOperationsInterceptor",
            "org.springframework.retry.interceptor.RetryOperationsInterceptor",
            "org.springframework.retry.interceptor.StatefulRetryOperationsInterceptor",
            "org.springframework.resilience.retry.AbstractRetryInterceptor");

    /** The aspect behind Resilience4j's {@code @Retry}. */
    private static final String RETRY_ASPECT = "retryAspect";

    private static final String TIME_LIMITER = "io.github.resilience4j.timelimiter.annotation.TimeLimiter";

    /**
     * Returns the rules for a listener.
     *
     * @throws InvalidListenerException if no proxy can claim keys, if a proxy is opaque or frozen, or if a {@code
     *     TargetSource} may exchange the bean
     */
    static AdviceRules of(ListenerDeclaration declared, ListenerProxies proxies) {
        declared.refuseIf(
                proxies.areOpaque(),
                "its bean has an opaque proxy, whose advice is hidden, so that nothing can check it",
                "leave out setOpaque(true) of the ProxyFactoryBean or automatic proxy creator");
        TargetSource exchanging = proxies.exchanging();
        if (exchanging != null) {
            throw declared.refused(
                    "its bean comes from a %s instead of a SingletonTargetSource, so it may be another one for each call, but a listener's container calls one object while it runs"
                            .formatted(exchanging.getClass().getName()),
                    "leave out the targetSource of the ProxyFactoryBean, or the customTargetSourceCreators of the automatic proxy creator, and move to another bean whatever needs them");
        }
        declared.refuseIf(
                proxies.claiming() == null,
                "its bean has no proxy that could claim keys, so the handler would run unclaimed",
                "make the class non-final and the bean an ordinary Spring bean, and take it out of circular references");
        declared.refuseIf(
                proxies.areFrozen(),
                "its bean has a frozen proxy, around whose advice no key can be claimed",
                "leave out setFrozen(true) of the ProxyFactoryBean or automatic proxy creator that makes it");
        return new AdviceRules(declared, proxies);
    }

    void requireFit() {
        for (Advisor advisor : proxies.around(declared.method())) {
            declared.refuseIf(
                    advisor.getAdvice() instanceof AsyncExecutionInterceptor,
                    "its advice %s runs it on another thread and does not wait for it, so its claim would be completed before its work is done"
                            .formatted(advisor.getAdvice().getClass().getName()),
                    ListenerRules.RETURN_THE_WORK);
        }
        Method method = declared.method();
        declared.refuseIf(
                Stream.of(method, method.getDeclaringClass())
                        .anyMatch(element -> MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY)
                                .isPresent(TIME_LIMITER)),
                "its @TimeLimiter ends its future before its work is done, so that its key could be claimed again meanwhile",
                "set timeout of @ExactlyOnceListener instead, which keeps the key until the work or the lease has ended");
        if (declared.annotation().effects() == Effects.DATABASE) {
            requireRetriesOutside();
        }
    }

    /**
     * Rejects retries that run inside the claim's transaction. The transaction is rolled back after an attempt has
     * failed, so a further attempt in it is in vain.
     */
    private void requireRetriesOutside() {
        for (Advisor advisor : proxies.withinTransaction(declared.method())) {
            declared.refuseIf(
                    isRetry(advisor),
                    "effects = DATABASE, but its retries are within the transaction of its claim, which is rolled back after an "
                            + "attempt that failed, so that each further attempt is in vain",
                    isInnerProxys(advisor)
                            ? "leave @Transactional off, since the claim has a transaction: the second of %d proxies of its bean has the retries, and the first one already has the transaction of @Transactional"
                                    .formatted(proxies.all().size())
                            : "give the retries an order below %d, for example by @EnableRetry(order = ...) or resilience4j.retry.retry-aspect-order: each attempt then has a transaction of its own"
                                    .formatted(ExactlyOnceAdvisor.ORDER));
        }
    }

    /**
     * Returns whether the claim's transaction begins in an outer proxy, and the retries are in an inner proxy. If so, a
     * new order of the advice cannot move the retries out of the transaction.
     */
    private boolean isInnerProxys(Advisor retry) {
        Advised beginning = Objects.requireNonNull(proxies.beginning(declared.method()));
        return beginning.indexOf(retry) < 0;
    }

    private static boolean isRetry(Advisor advisor) {
        for (Class<?> type = advisor.getAdvice().getClass(); type != null; type = type.getSuperclass()) {
            if (RETRIES.contains(type.getName())) {
                return true;
            }
        }
        return advisor instanceof AspectJPrecedenceInformation aspect
                && aspect.getAspectName().equals(RETRY_ASPECT);
    }
}
