package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.withSettings;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.github.resilience4j.timelimiter.annotation.TimeLimiter;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.TargetSource;
import org.springframework.aop.aspectj.AspectJPrecedenceInformation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.aop.target.AbstractBeanFactoryBasedTargetSource;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.aop.target.LazyInitTargetSource;
import org.springframework.aop.target.PrototypeTargetSource;
import org.springframework.aop.target.SimpleBeanTargetSource;
import org.springframework.aop.target.ThreadLocalTargetSource;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.retry.interceptor.RetryInterceptorBuilder;
import org.springframework.scheduling.annotation.AnnotationAsyncExecutionInterceptor;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.MatchAlwaysTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/** Tests which advice around a listener's method fails startup, and which advice is accepted. */
class AdviceRulesTests {

    @Retention(RetentionPolicy.RUNTIME)
    @interface InBackground {}

    static class Listeners {

        @ExactlyOnceListener("orders")
        void plain(String order) {}

        @InBackground
        @ExactlyOnceListener("orders")
        void inBackground(String order) {}

        @TimeLimiter(name = "carrier")
        @ExactlyOnceListener("orders")
        CompletableFuture<Void> limited(String order) {
            return CompletableFuture.completedFuture(null);
        }

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void inTransaction(String order) {}
    }

    private static final Advice ASYNC = new AsyncExecutionInterceptor(new SyncTaskExecutor());
    private static final Advice CUSTOM = new AnnotationAsyncExecutionInterceptor(new SyncTaskExecutor());
    private static final Advice RETRY = RetryInterceptorBuilder.stateless().build();

    private final ExactlyOnceAdvisor claiming = ListenerRig.advisor();

    private static Object proxy(Object target, Advisor... advisors) {
        ProxyFactory proxies = new ProxyFactory(target);
        proxies.setProxyTargetClass(true);
        proxies.addAdvisors(advisors);
        return proxies.getProxy();
    }

    private static Advisor always(Advice advice) {
        return new DefaultPointcutAdvisor(advice);
    }

    private static void check(Object bean, String method) {
        AdviceRules.of(ListenerRig.declared(Listeners.class, method), ListenerProxies.of(bean))
                .requireFit();
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside", "outer proxy", "inner proxy"})
    void adviceThatDoesNotWaitForTheHandlerIsRefused(String place) {
        Advisor async = always(ASYNC);
        Object bean = switch (place) {
            case "outside" -> proxy(new Listeners(), async, claiming);
            case "inside" -> proxy(new Listeners(), claiming, always(CUSTOM));
            case "outer proxy" -> proxy(proxy(new Listeners(), claiming), async);
            default -> proxy(proxy(new Listeners(), async), claiming);
        };

        assertThatThrownBy(() -> check(bean, "plain"))
                .isInstanceOfSatisfying(InvalidListenerException.class, refused -> {
                    assertThat(refused.problem())
                            .contains("Listeners.plain", "AsyncExecutionInterceptor", "runs it on another thread");
                    assertThat(refused.remedy()).contains("return a CompletableFuture of the work");
                });
    }

    /**
     * The advice matches methods with an annotation of the application, as {@code @EnableAsync(annotation = ...)} does.
     */
    @Test
    void asynchronousAdviceWithAnAnnotationOfTheApplicationsOwnIsRefusedWhereItApplies() {
        Advisor async =
                new DefaultPointcutAdvisor(new AnnotationMatchingPointcut(null, InBackground.class, true), ASYNC);
        Object bean = proxy(new Listeners(), async, claiming);

        assertThatThrownBy(() -> check(bean, "inBackground")).isInstanceOf(InvalidListenerException.class);
        assertThatCode(() -> check(bean, "plain")).doesNotThrowAnyException();
    }

    @Test
    void timeLimiterIsRefused() {
        assertThatThrownBy(() -> check(proxy(new Listeners(), claiming), "limited"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("@TimeLimiter")
                .hasMessageContaining("set timeout of @ExactlyOnceListener");
    }

    @Test
    void retryWithinTheTransactionOfItsClaimIsRefused() {
        assertThatThrownBy(() -> check(proxy(new Listeners(), claiming, always(RETRY)), "inTransaction"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("each further attempt is in vain")
                .hasMessageContaining("order below " + ExactlyOnceAdvisor.ORDER);
        assertThatCode(() -> check(proxy(new Listeners(), always(RETRY), claiming), "inTransaction"))
                .doesNotThrowAnyException();
        assertThatCode(() -> check(proxy(new Listeners(), claiming, always(RETRY)), "plain"))
                .doesNotThrowAnyException();
    }

    /** Resilience4j's {@code @Retry} is an aspect, and its bean has this name. */
    @Test
    void aspectThatRetriesWithinTheTransactionOfItsClaimIsRefused() {
        assertThatThrownBy(() -> check(proxy(new Listeners(), claiming, aspect("retryAspect")), "inTransaction"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("each further attempt is in vain")
                .hasMessageContaining("resilience4j.retry.retry-aspect-order");
        assertThatCode(() -> check(proxy(new Listeners(), aspect("retryAspect"), claiming), "inTransaction"))
                .doesNotThrowAnyException();
        assertThatCode(() -> check(proxy(new Listeners(), claiming, aspect("bulkheadAspect")), "inTransaction"))
                .doesNotThrowAnyException();
    }

    private static Advisor aspect(String name) {
        PointcutAdvisor aspect =
                mock(PointcutAdvisor.class, withSettings().extraInterfaces(AspectJPrecedenceInformation.class));
        given(aspect.getPointcut()).willReturn(Pointcut.TRUE);
        given(aspect.getAdvice()).willReturn((MethodInterceptor) MethodInvocation::proceed);
        given(((AspectJPrecedenceInformation) aspect).getAspectName()).willReturn(name);
        return aspect;
    }

    @Test
    void retryOfAnInnerProxyIsWithinTheTransactionOnlyIfTheApplicationsOwnBeginsBefore() {
        Object inner = proxy(new Listeners(), always(RETRY), claiming);
        Advisor transactional = always(new TransactionInterceptor(
                (TransactionManager) mock(PlatformTransactionManager.class),
                new MatchAlwaysTransactionAttributeSource()));

        assertThatCode(() -> check(proxy(inner, claiming), "inTransaction")).doesNotThrowAnyException();
        assertThatThrownBy(() -> check(proxy(inner, claiming, transactional), "inTransaction"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("each further attempt is in vain")
                .hasMessageContaining("leave @Transactional off");
    }

    /** An opaque proxy does not show its advice, which could retry the method, or run it on another thread. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void opaqueProxyIsRefused(boolean isInner) {
        ProxyFactory opaque = new ProxyFactory(new Listeners());
        opaque.setProxyTargetClass(true);
        opaque.addAdvisor(isInner ? always(RETRY) : claiming);
        opaque.setOpaque(true);
        Object bean = isInner ? proxy(opaque.getProxy(), claiming) : opaque.getProxy();

        assertThatThrownBy(() -> check(bean, "plain"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("opaque proxy")
                .hasMessageContaining("setOpaque(true)");
    }

    private TargetSource source(String kind) {
        return switch (kind) {
            case "swapped" -> new HotSwappableTargetSource(new Listeners());
            case "swapped proxy" -> new HotSwappableTargetSource(proxy(new Listeners(), claiming));
            case "lazy" -> ofBean(new LazyInitTargetSource());
            case "prototype" -> ofBean(new PrototypeTargetSource());
            case "per thread" -> ofBean(new ThreadLocalTargetSource());
            default -> ofBean(new SimpleBeanTargetSource());
        };
    }

    private static TargetSource ofBean(AbstractBeanFactoryBasedTargetSource source) {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        RootBeanDefinition definition = new RootBeanDefinition(Listeners.class, Listeners::new);
        definition.setScope(BeanDefinition.SCOPE_PROTOTYPE);
        beans.registerBeanDefinition("listeners", definition);
        source.setTargetBeanName("listeners");
        source.setBeanFactory(beans);
        return source;
    }

    /** A bean that comes later may have a proxy of its own, whose advice could repeat the method in a transaction. */
    @ParameterizedTest
    @ValueSource(strings = {"swapped", "swapped proxy", "lazy", "prototype", "per thread", "by name"})
    void beanThatATargetSourceMayExchangeIsRefused(String kind) {
        ProxyFactory proxies = new ProxyFactory();
        proxies.setTargetSource(source(kind));
        proxies.setProxyTargetClass(true);
        proxies.addAdvisor(claiming);

        for (Object bean : List.of(proxies.getProxy(), proxy(proxies.getProxy(), claiming))) {
            assertThatThrownBy(() -> check(bean, "plain"))
                    .isInstanceOfSatisfying(InvalidListenerException.class, refused -> {
                        assertThat(refused.problem()).contains("Listeners.plain", "instead of a SingletonTargetSource");
                        assertThat(refused.remedy()).contains("customTargetSourceCreators");
                    });
        }
    }

    @Test
    void frozenProxyIsRefused() {
        ProxyFactory proxies = new ProxyFactory(new Listeners());
        proxies.setProxyTargetClass(true);
        proxies.addAdvisor(claiming);
        proxies.setFrozen(true);

        assertThatThrownBy(() -> check(proxies.getProxy(), "plain"))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("frozen proxy")
                .hasMessageContaining("setFrozen(true)");
    }

    @Test
    void otherAdviceIsPermitted() {
        Advisor other = always((MethodInterceptor) call -> call.proceed());

        assertThatCode(() -> check(proxy(proxy(new Listeners(), other, claiming), other, claiming, other), "plain"))
                .doesNotThrowAnyException();
    }
}
