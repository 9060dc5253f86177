package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.test.kit.Till.Order;
import io.micrometer.core.annotation.Timed;
import io.micrometer.core.aop.TimedAspect;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.annotation.Observed;
import io.micrometer.observation.aop.ObservedAspect;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.aspectj.lang.JoinPoint;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.AfterReturning;
import org.aspectj.lang.annotation.AfterThrowing;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.aspectj.annotation.AnnotationAwareAspectJAutoProxyCreator;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** Listeners of an application with {@code spring-boot-starter-aspectj}: its own aspects, and Micrometer's. */
@ExactlyOnceTest
class AspectsTests {

    @Autowired
    private ExactlyOnceDriver driver;

    @Autowired
    private ApplicationContext context;

    @Autowired
    private Journal journal;

    @Autowired
    private MeterRegistry meters;

    @Autowired
    private TestObservationRegistry observations;

    @MockitoBean
    private Till till;

    static class Shop {

        private final Till till;

        Shop(Till till) {
            this.till = till;
        }

        @Timed("sale")
        @Observed(name = "sale.observed")
        @ExactlyOnceListener(queueNames = "single", key = "#order.orderId")
        void single(Order order, Claim claim) throws InterruptedException {
            claim.ensureHeld();
            till.charge(order.orderId(), claim);
        }

        @Timed("sale.later")
        @Observed(name = "sale.later.observed")
        @ExactlyOnceListener(queueNames = "later", key = "#order.orderId")
        CompletableFuture<Void> later(Order order, Claim claim) throws InterruptedException {
            till.charge(order.orderId(), claim);
            return CompletableFuture.completedFuture(null);
        }

        @ExactlyOnceListener(queueNames = "batch", key = "#payload.orderId")
        void batch(List<Order> orders, List<Claim> claims) throws InterruptedException {
            for (int index = 0; index < orders.size(); index++) {
                till.charge(orders.get(index).orderId(), claims.get(index));
            }
        }
    }

    /** Records the calls of advice, in order. */
    @Aspect
    static class Journal {

        private final List<String> calls = new CopyOnWriteArrayList<>();

        @Before("@annotation(listener)")
        void before(JoinPoint point, ExactlyOnceListener listener) {
            calls.add("before " + listener.queueNames()[0] + " " + point.getArgs().length);
        }

        @AfterReturning("@annotation(io.exactlyonce.ExactlyOnceListener)")
        void returned() {
            calls.add("returned");
        }

        @AfterThrowing(pointcut = "@annotation(io.exactlyonce.ExactlyOnceListener)", throwing = "failure")
        void failed(Exception failure) {
            calls.add("failed " + failure.getMessage());
        }
    }

    /** Unlike an interceptor of Spring, an aspect may proceed several times: each time with all advice inside it. */
    @Aspect
    static class Again {

        @Around("execution(* *.single(..))")
        Object again(ProceedingJoinPoint point) throws Throwable {
            try {
                return point.proceed();
            } catch (IllegalStateException failure) {
                return point.proceed();
            }
        }
    }

    /** Gives the handler another payload than the message has. */
    @Aspect
    static class Discount {

        @Around("execution(* *.single(..)) && args(order, claim)")
        Object discount(ProceedingJoinPoint point, Order order, Claim claim) throws Throwable {
            return point.proceed(new Object[] {new Order(order.orderId() + " discounted", order.cents() / 2), claim});
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Shop.class, Journal.class, Again.class, Discount.class})
    static class Application {

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        TestObservationRegistry observations() {
            return TestObservationRegistry.create();
        }

        @Bean
        TimedAspect timed(MeterRegistry meters) {
            return new TimedAspect(meters);
        }

        @Bean
        ObservedAspect observed(ObservationRegistry observations) {
            return new ObservedAspect(observations);
        }
    }

    @BeforeEach
    void forget() {
        journal.calls.clear();
        observations.clear();
    }

    private static TestMessage order(String orderId, String queue) {
        return TestMessage.ofPayload(new Order(orderId, 100)).to(queue);
    }

    @Test
    void springBootMakesTheProxies() {
        assertThat(context.getBeansOfType(AnnotationAwareAspectJAutoProxyCreator.class))
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"single", "later", "batch"})
    void aspectsRunOncePerDelivery(String queue) throws InterruptedException {
        Delivered first = driver.deliver(order("A-1", queue));

        assertThat(first).wasHandled().wasAttempt(1);
        assertThat(driver.redeliver(first)).wasSuppressed();
        verify(till, times(1)).charge(any(), any());
        assertThat(journal.calls).containsExactly("before " + queue + " 2", "returned");
    }

    @ParameterizedTest
    @ValueSource(strings = {"later", "batch"})
    void aspectSeesTheHandlersException(String queue) throws InterruptedException {
        doThrow(new IllegalStateException("closed")).doNothing().when(till).charge(any(), any());

        Delivered first = driver.deliver(order("A-1", queue));

        assertThat(first).wasReturned();
        assertThat(driver.redeliver(first)).wasHandled().wasAttempt(2);
        assertThat(journal.calls)
                .containsExactly("before " + queue + " 2", "failed closed", "before " + queue + " 2", "returned");
    }

    @Test
    void aspectRepeatsTheHandlerWithinTheClaim() throws InterruptedException {
        doThrow(new IllegalStateException("closed")).doNothing().when(till).charge(any(), any());

        assertThat(driver.deliver(order("A-1", "single"))).wasHandled().wasAttempt(1);

        verify(till, times(2)).charge(any(), any());
    }

    @Test
    void aspectDoesNotRepeatTheHandlerAfterItsClaimIsLost() throws InterruptedException {
        doAnswer(call -> {
                    driver.loseClaim();
                    throw new IllegalStateException("closed");
                })
                .doNothing()
                .when(till)
                .charge(any(), any());

        driver.deliver(order("A-1", "single"));

        verify(till, times(1)).charge(any(), any());
    }

    @Test
    void aspectChangesTheHandlersArgument() throws InterruptedException {
        Delivered first = driver.deliver(order("A-1", "single"));

        assertThat(first).wasHandled();
        verify(till).charge(eq("A-1 discounted"), any());
        assertThat(driver.redeliver(first)).wasSuppressed();
    }

    @ParameterizedTest
    @ValueSource(strings = {"single", "later"})
    void micrometersAspectsMeasureOnceForEachHandledDelivery(String queue) {
        String name = queue.equals("single") ? "sale" : "sale.later";
        long before = timed(name);
        Delivered first = driver.deliver(order("A-1", queue));
        driver.redeliver(first);

        assertThat(timed(name)).isEqualTo(before + 1);
        TestObservationRegistryAssert.assertThat(observations)
                .hasNumberOfObservationsWithNameEqualTo(name + ".observed", 1);
    }

    private long timed(String name) {
        return meters.find(name).timers().stream().mapToLong(Timer::count).sum();
    }
}
