package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doNothing;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.test.kit.Till.Order;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.retry.interceptor.RetryInterceptorBuilder;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.util.AopTestUtils;

/** Listeners of an application with several proxy creators, retries, limits, and advice that changes the thread. */
@ExactlyOnceTest
@TestPropertySource(properties = "spring.aop.auto=false")
class AdvisedListenerTests {

    @Autowired
    private ExactlyOnceDriver driver;

    @Autowired
    private Shop shop;

    @MockitoSpyBean
    private SpiedShop spied;

    @MockitoBean
    private MockedShop mocked;

    @Autowired
    private MessageListenerContainerRegistry containers;

    @MockitoBean
    private Till till;

    static class Shop {

        private final Till till;

        Shop(Till till) {
            this.till = till;
        }

        @Retryable(maxRetries = 2, delay = 0)
        @ConcurrencyLimit(1)
        @ExactlyOnceListener(
                queueNames = "single",
                key = "#order.orderId",
                parkFor = UnsupportedOperationException.class)
        void single(Order order, Claim claim) throws InterruptedException {
            claim.ensureHeld();
            till.charge(order.orderId(), claim);
        }

        @org.springframework.retry.annotation.Retryable
        @ExactlyOnceListener(
                queueNames = "inside",
                key = "#order.orderId",
                parkFor = UnsupportedOperationException.class)
        void inside(Order order, Claim claim) throws InterruptedException {
            claim.ensureHeld();
            till.charge(order.orderId(), claim);
        }

        @ExactlyOnceListener(
                queueNames = "moved",
                key = "#order.orderId",
                parkFor = UnsupportedOperationException.class)
        void moved(Order order, Claim claim) throws InterruptedException {
            claim.ensureHeld();
            till.charge(order.orderId(), claim);
        }

        @Retryable(maxRetries = 2, delay = 0)
        @ExactlyOnceListener(queueNames = "later", key = "#order.orderId")
        CompletableFuture<Void> later(Order order, Claim claim) throws InterruptedException {
            till.charge(order.orderId(), claim);
            return CompletableFuture.completedFuture(null);
        }

        @Retryable(maxRetries = 2, delay = 0)
        @ExactlyOnceListener(queueNames = "batch", key = "#payload.orderId")
        BatchResult batch(List<Order> orders, List<Claim> claims) throws InterruptedException {
            BatchResult result = BatchResult.allSucceeded();
            for (int index = 0; index < orders.size(); index++) {
                try {
                    till.charge(orders.get(index).orderId(), claims.get(index));
                } catch (IllegalStateException failure) {
                    result = result.andFailed(index, failure);
                }
            }
            return result;
        }
    }

    static class SpiedShop {

        @ExactlyOnceListener(queueNames = "spied", key = "#order.orderId")
        void sell(Order order, Claim claim) {
            claim.ensureHeld();
        }
    }

    static class MockedShop {

        @ExactlyOnceListener(id = "mocked", queueNames = "mocked", key = "#order.orderId")
        void sell(Order order) {
            throw new IllegalStateException("a mock has no listener");
        }
    }

    @EnableResilientMethods
    @Configuration(proxyBeanMethods = false)
    @Import({Shop.class, SpiedShop.class, MockedShop.class})
    static class Application {

        /** A second proxy creator, like that of Shiro and JavaMelody. */
        @Bean
        static DefaultAdvisorAutoProxyCreator anotherProxyCreator() {
            DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
            creator.setProxyTargetClass(true);
            return creator;
        }

        /** Advice like that of {@code @EnableRetry}. */
        @Bean
        static Advisor retries() {
            return new DefaultPointcutAdvisor(
                    new AnnotationMatchingPointcut(null, org.springframework.retry.annotation.Retryable.class, true),
                    RetryInterceptorBuilder.stateless().maxAttempts(3).build());
        }

        @Bean(destroyMethod = "shutdown")
        static ExecutorService pool() {
            return Executors.newSingleThreadExecutor();
        }

        @Bean
        static Advisor otherThread(ExecutorService pool) {
            NameMatchMethodPointcut moved = new NameMatchMethodPointcut();
            moved.setMappedName("moved");
            DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(moved, (MethodInterceptor) call -> {
                try {
                    return pool.submit(() -> {
                                try {
                                    return call.proceed();
                                } catch (Exception failure) {
                                    throw failure;
                                } catch (Throwable error) {
                                    throw new AssertionError(error);
                                }
                            })
                            .get();
                } catch (ExecutionException failure) {
                    throw failure.getCause();
                }
            });
            advisor.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return advisor;
        }
    }

    private static TestMessage order(String orderId, String queue) {
        return TestMessage.ofPayload(new Order(orderId, 100)).to(queue);
    }

    @Test
    void beanIsProxiedTwice() throws Exception {
        assertThat(((Advised) shop).getTargetSource().getTarget()).isInstanceOf(Advised.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"single", "inside", "moved", "later", "batch"})
    void handlerRunsOnceUnderItsClaim(String queue) throws InterruptedException {
        Delivered first = driver.deliver(order("A-1", queue));

        assertThat(first).wasHandled().wasAttempt(1);
        assertThat(driver.redeliver(first)).wasSuppressed();
        verify(till, times(1)).charge(any(), any());
    }

    @ParameterizedTest
    @ValueSource(strings = {"single", "inside", "later"})
    void retryRunsWithinTheClaim(String queue) throws InterruptedException {
        doThrow(new IllegalStateException("closed"))
                .doThrow(new IllegalStateException("still closed"))
                .doNothing()
                .when(till)
                .charge(any(), any());

        assertThat(driver.deliver(order("A-1", queue))).wasHandled().wasAttempt(1);

        verify(till, times(3)).charge(any(), any());
    }

    @ParameterizedTest
    @ValueSource(strings = {"single", "inside", "moved"})
    void handlersOwnExceptionParksTheKey(String queue) throws InterruptedException {
        doThrow(new UnsupportedOperationException("no such carrier")).when(till).charge(any(), any());

        assertThat(driver.deliver(order("A-1", queue))).isParked();

        verify(till, times(queue.equals("moved") ? 1 : 3)).charge(any(), any());
    }

    @Test
    void messageThatABatchNamesIsRedeliveredAloneAndIsNotRetriedInPlace() throws InterruptedException {
        doThrow(new IllegalStateException("closed")).doNothing().when(till).charge(eq("B-2"), any());

        List<Delivered> batch = driver.deliverTogether(order("B-1", "batch"), order("B-2", "batch"));

        assertThat(batch.get(0)).wasHandled().wasAttempt(1);
        assertThat(batch.get(1)).wasReturned();
        assertThat(driver.redeliver(batch.get(1))).wasHandled().wasAttempt(2);
        verify(till, times(1)).charge(eq("B-1"), any());
        verify(till, times(2)).charge(eq("B-2"), any());
    }

    @ParameterizedTest
    @ValueSource(strings = {"single", "inside", "later"})
    void handlerWhoseClaimIsLostIsNotCalled(String queue) throws InterruptedException {
        assertThat(driver.deliver(order("A-1", queue).loseClaim())).wasAbandoned();

        verify(till, never()).charge(any(), any());
    }

    @ParameterizedTest
    @ValueSource(strings = {"single", "inside", "later"})
    void noRetryFollowsALostClaim(String queue) throws InterruptedException {
        doAnswer(call -> {
                    driver.loseClaim();
                    throw new IllegalStateException("closed");
                })
                .doNothing()
                .when(till)
                .charge(any(), any());

        driver.deliver(order("A-1", queue));

        verify(till, times(1)).charge(any(), any());
    }

    @Test
    void spyIsStubbed() {
        doThrow(new IllegalStateException("stubbed"))
                .doCallRealMethod()
                .when(spied)
                .sell(any(), any());

        Delivered first = driver.deliver(order("S-1", "spied"));

        assertThat(first).wasReturned();
        assertThat(driver.redeliver(first)).wasHandled().wasAttempt(2);
        verify(spied, times(2)).sell(any(), any());
    }

    /** The mock takes the place of a listener's bean, and has no container, because tests of other beans need none. */
    @Test
    void mockOfAListenerHasNoContainer() {
        assertThat(mocked).isNotNull();
        assertThat(containers.getContainerById("mocked")).isNull();
        assertThat(containers.getListenerContainers()).isNotEmpty();
    }

    @Test
    void spyIsConfiguredToDoNothing() {
        doNothing().when(spied).sell(any(), any());

        assertThat(driver.deliver(order("S-1", "spied"))).wasHandled();
    }

    @Test
    void methodIsCalledDirectlyWithoutItsProxy() throws InterruptedException {
        Order order = new Order("A-1", 100);

        assertThatIllegalStateException()
                .isThrownBy(() -> shop.single(order, null))
                .withMessageContaining("AopTestUtils.getUltimateTargetObject(bean)");
        Shop target = AopTestUtils.getUltimateTargetObject(shop);
        Claim claim = mock();
        target.single(order, claim);

        verify(till).charge("A-1", claim);
    }
}
