package io.exactlyonce.listener.method;

import io.exactlyonce.Effects;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.aop.Advisor;
import org.springframework.aop.aspectj.AspectJPrecedenceInformation;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Rejects advice around a listener's method under which its claim would not cover its work. All methods throw {@link
 * InvalidListenerException}.
 *
 * @param around the advisors of the method, from the outermost
 */
record AdviceRules(ListenerDeclaration declared, List<Advisor> around) {

    /** By name: an application need not have them. */
    private static final Set<String> RETRIES = Set.of(
            "org.springframework.retry.annotation.AnnotationAwareRetryOperationsInterceptor",
            "org.springframework.retry.interceptor.RetryOperationsInterceptor",
            "org.springframework.retry.interceptor.StatefulRetryOperationsInterceptor",
            "org.springframework.resilience.retry.AbstractRetryInterceptor");

    /** The bean of Resilience4j's retries. */
    private static final String RETRY_ASPECT = "retryAspect";

    private static final String TIME_LIMITER = "io.github.resilience4j.timelimiter.annotation.TimeLimiter";

    /** @param proxies of the bean that containers call */
    static AdviceRules of(ListenerDeclaration declared, ListenerProxies proxies) {
        declared.refuseIf(
                proxies.claiming() == null,
                "its bean has no proxy that could claim keys, so the handler would run unclaimed",
                "make the class non-final and the bean an ordinary Spring bean");
        declared.refuseIf(
                proxies.areFrozen(),
                "its bean has a frozen proxy, around whose advice no key can be claimed",
                "leave out setFrozen(true) of the ProxyFactoryBean or automatic proxy creator that makes it");
        return new AdviceRules(declared, proxies.around(declared.method()));
    }

    void requireFit() {
        for (Advisor advisor : around) {
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

    /** The writes of a failed attempt would be committed with those of the next. */
    private void requireRetriesOutside() {
        boolean isWithin = false;
        for (Advisor advisor : around) {
            isWithin |= advisor instanceof ExactlyOnceAdvisor;
            declared.refuseIf(
                    isWithin && isRetry(advisor),
                    "effects = DATABASE, but its retries are within the transaction of its claim, so the writes of an attempt that failed "
                            + "would be committed with those of the next",
                    "give the retries an order below %d, for example by @EnableRetry(order = ...) or resilience4j.retry.retry-aspect-order: "
                                    .formatted(ExactlyOnceAdvisor.ORDER)
                            + "each attempt then has a transaction of its own");
        }
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
