package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.spy;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.FailedItems;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.listener.method.ContainerCalls.Called;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.messaging.Message;
import org.springframework.util.ReflectionUtils;

/** Tests what advice around a listener's method does, and how the claim is resolved. */
class ListenerInvocationTests {

    /** A listener whose methods run the next scripted action of the test at each call. */
    static class Orders {

        final List<String> handled = new ArrayList<>();
        final Deque<Callable<?>> calls = new ArrayDeque<>();
        Orders self = this;

        Object next() throws Exception {
            Callable<?> call = calls.poll();
            return call == null ? "shipped" : call.call();
        }

        BatchResult nextResult() throws Exception {
            return next() instanceof BatchResult result ? result : BatchResult.allSucceeded();
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        String single(String order, Claim claim) throws Exception {
            claim.ensureHeld();
            handled.add(order);
            return (String) next();
        }

        @ExactlyOnceListener(
                queueNames = "orders",
                key = "#order",
                whenInDoubt = InDoubtPolicy.PARK,
                parkFor = IOException.class)
        void parking(String order) throws Exception {
            handled.add(order);
            next();
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#payload")
        BatchResult batch(List<String> orders, List<Claim> claims) throws Exception {
            assertThat(claims).extracting(Claim::key).isEqualTo(orders);
            handled.addAll(orders);
            return nextResult();
        }

        @SuppressWarnings("unchecked")
        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        CompletableFuture<String> later(String order) throws Exception {
            handled.add(order);
            return (CompletableFuture<String>) next();
        }

        @ExactlyOnceListener(
                queueNames = "orders",
                key = "#order",
                effects = Effects.DATABASE,
                parkFor = IOException.class)
        int transactional(String order, Claim claim) throws Exception {
            claim.ensureHeld();
            handled.add(order);
            next();
            return 7;
        }

        @ExactlyOnceListener(
                queueNames = "orders",
                key = "#order",
                effects = Effects.DATABASE,
                parkFor = Exception.class,
                maxAttempts = 1)
        int parkedAfterOne(String order) throws Exception {
            handled.add(order);
            next();
            return 7;
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#order", effects = Effects.DATABASE, maxAttempts = 1)
        int limitedToOne(String order) throws Exception {
            handled.add(order);
            next();
            return 7;
        }

        @ExactlyOnceListener(
                queueNames = "orders",
                key = "#payload",
                effects = Effects.DATABASE,
                parkFor = Exception.class,
                maxAttempts = 1)
        BatchResult batchParkedAfterOne(List<String> orders) throws Exception {
            handled.addAll(orders);
            return nextResult();
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#payload", effects = Effects.DATABASE)
        BatchResult transactionalBatch(List<String> orders, List<Claim> claims) throws Exception {
            assertThat(claims).extracting(Claim::key).isEqualTo(orders);
            handled.addAll(orders);
            return nextResult();
        }
    }

    private final ContainerCalls container = new ContainerCalls();
    private final Orders orders = new Orders();
    private final ExecutorService pool = Executors.newSingleThreadExecutor();
    private final List<MethodInterceptor> outside = new ArrayList<>();
    private final List<MethodInterceptor> inside = new ArrayList<>();

    @AfterEach
    void noInterruptIsLeftBehind() throws InterruptedException {
        pool.shutdown();
        assertThat(pool.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        assertThat(Thread.interrupted()).isFalse();
    }

    private Called method(String name) {
        Orders proxy = (Orders) container.proxy(orders, outside, inside);
        orders.self = proxy;
        return container.method(proxy, name);
    }

    private void advise(String place, MethodInterceptor advice) {
        (place.equals("outside") ? outside : inside).add(advice);
    }

    /** Repeats failed calls, like the interceptors for the retry annotations of Spring and Spring Retry. */
    private static MethodInterceptor retry(int most, IntConsumer between) {
        return call -> {
            for (int attempt = 1; ; attempt++) {
                try {
                    return ((ProxyMethodInvocation) call).invocableClone().proceed();
                } catch (Exception failure) {
                    if (attempt > most) {
                        throw failure;
                    }
                    between.accept(attempt);
                }
            }
        };
    }

    private static MethodInterceptor retry(int most) {
        return retry(most, attempt -> {});
    }

    private void failing(Exception... failures) {
        for (Exception failure : failures) {
            orders.calls.add(() -> {
                throw failure;
            });
        }
    }

    private void failingItems(int... indexes) {
        BatchResult result = BatchResult.allSucceeded();
        for (int index : indexes) {
            result = result.andFailed(index, new IllegalStateException("no carrier"));
        }
        BatchResult failed = result;
        orders.calls.add(() -> failed);
    }

    private void assertCompletedOnce(String... keys) {
        assertThat(container.store.completions())
                .extracting(completed -> completed.claim().key().key())
                .containsExactly(keys);
        assertThat(container.store.releases()).isEmpty();
    }

    private ClaimResolution.Released released() {
        assertThat(container.store.completions()).isEmpty();
        assertThat(container.store.parkings()).isEmpty();
        assertThat(container.store.releases()).hasSize(1);
        return container.store.releases().get(0);
    }

    @Test
    void secondProxyOfABeanRunsUnderTheClaimOfTheFirst() throws Exception {
        List<String> advised = new ArrayList<>();
        ProxyFactory second = new ProxyFactory(container.proxy(orders, outside, inside));
        second.setProxyTargetClass(true);
        second.addAdvice(counting("outer", advised));
        second.addAdvisor(container.advisor);
        second.addAdvice(counting("inner", advised));
        Orders proxy = (Orders) second.getProxy();

        container.call(container.method(proxy, "single"), "A-1");
        container.call(container.method(proxy, "transactional"), "A-2");

        assertThat(orders.handled).containsExactly("A-1", "A-2");
        assertThat(advised).containsExactly("outer", "inner", "outer", "inner");
        assertCompletedOnce("A-1");
        assertThat(container.transactions).containsExactly("committed");
    }

    /**
     * Spring's post-processor for {@code @Retryable} puts its advice on an inner proxy. Another proxy creator then
     * wraps that proxy.
     */
    @Test
    void retryOfAnInnerProxyBeginsATransactionForEachCall() throws Exception {
        ProxyFactory second = new ProxyFactory(container.proxy(orders, List.of(retry(1)), inside));
        second.setProxyTargetClass(true);
        second.addAdvisor(container.advisor);
        failing(new IllegalStateException("first"));

        container.call(container.method(second.getProxy(), "transactional"), "A-1");

        assertThat(orders.handled).containsExactly("A-1", "A-1");
        assertThat(container.transactions).containsExactly("rolled back", "committed");
    }

    /** The advice runs before the inner proxy's own claiming step. */
    @Test
    void innerProxyMayCallTheMethodOnAnotherThread() throws Exception {
        ProxyFactory second = new ProxyFactory(container.proxy(
                orders, List.of(call -> pool.submit(() -> proceed(call)).get()), inside));
        second.setProxyTargetClass(true);
        second.addAdvisor(container.advisor);

        container.call(container.method(second.getProxy(), "single"), "A-1");

        assertThat(orders.handled).containsExactly("A-1");
        assertCompletedOnce("A-1");
    }

    @Test
    void adviceBetweenTwoProxiesThatAnswersInsteadOfATransactionFailsItsDelivery() {
        ProxyFactory second = new ProxyFactory(container.proxy(orders, outside, inside));
        second.setProxyTargetClass(true);
        second.addAdvisor(container.advisor);
        second.addAdvice((MethodInterceptor) call -> 7);

        assertThatIllegalStateException()
                .isThrownBy(() -> container.call(container.method(second.getProxy(), "transactional"), "A-1"))
                .withMessageContaining("returned without calling it");
    }

    private static MethodInterceptor counting(String name, List<String> advised) {
        return call -> {
            advised.add(name);
            return call.proceed();
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void retrySucceedsWithinTheClaim(String place) throws Exception {
        advise(place, retry(2));
        failing(new IllegalStateException("first"), new IllegalStateException("second"));

        assertThat(container.call(method("single"), "A-1")).isEqualTo("shipped");

        assertThat(orders.handled).containsExactly("A-1", "A-1", "A-1");
        assertThat(container.store.claims()).extracting(ClaimRequest::key).hasSize(1);
        assertCompletedOnce("A-1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void lastFailureOfARetryIsTheHandlersAndDecides(String place) {
        advise(place, retry(1));
        failing(new IllegalStateException("first"), new IOException("the carrier refuses"));

        assertThatThrownBy(() -> container.call(method("parking"), "A-1")).isInstanceOf(IOException.class);

        assertThat(container.store.parkings())
                .singleElement()
                .satisfies(parked -> assertThat(parked.inDoubt()).isFalse());
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void retryIsNotCalledOnceItsHandlerHasBeenStopped(String place) {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        advise(place, retry(2, attempt -> delivery.get().stopHandler()));
        failing(new IllegalStateException("first"));

        assertFails("single", delivery, IllegalStateException.class);

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(released().inDoubt()).as("nothing ran when it was stopped").isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void stopWithinACallLeavesTheKeyInDoubtAndEndsTheRetries(String place) {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        advise(place, retry(2));
        orders.calls.add(() -> {
            delivery.get().stopHandler();
            throw new IllegalStateException("half done");
        });

        assertFails("single", delivery, IllegalStateException.class);

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(released().inDoubt()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void retryIsNotCalledOnceTheLeaseIsOver(String place) {
        advise(place, retry(2, attempt -> container.clock.advance(Duration.ofMinutes(5))));
        failing(new IllegalStateException("first"));

        assertThatThrownBy(() -> container.call(method("single"), "A-1")).hasMessage("first");

        assertThat(orders.handled).containsExactly("A-1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void handlerThatAdviceKeptWaitingUntilItsListenerStoppedIsNeitherCalledNorInDoubt(String place) {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        advise(place, call -> {
            delivery.get().stopHandler();
            assertThat(new CountDownLatch(1).await(10, TimeUnit.SECONDS))
                    .as("only an interrupt ends this wait")
                    .isTrue();
            return call.proceed();
        });

        assertFails("parking", delivery, InterruptedException.class);

        assertThat(orders.handled).isEmpty();
        assertThat(released().inDoubt()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void handlerIsNotCalledIfItsClaimIsLostWithinItsAdvice(String place) {
        advise(place, call -> {
            container.clock.advance(Duration.ofMinutes(5));
            return call.proceed();
        });

        assertThatThrownBy(() -> container.call(method("parking"), "A-1")).isInstanceOf(ClaimLostException.class);

        assertThat(orders.handled).isEmpty();
        assertThat(released().inDoubt()).isFalse();
    }

    /**
     * A logging aspect swallows the exception that refuses the call. The handler was not called, so the aspect's result
     * must not complete the key.
     */
    @ParameterizedTest
    @CsvSource({"single, outside", "single, inside", "transactional, inside"})
    void adviceThatSwallowsTheRefusalOfAStoppedListenerCompletesNothing(String name, String place) {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        advise(place, call -> {
            delivery.get().stopHandler();
            try {
                return call.proceed();
            } catch (ClaimLostException logged) {
                return null;
            }
        });

        assertFails(name, delivery, ClaimLostException.class);

        assertThat(orders.handled).isEmpty();
        assertThat(container.store.completions()).isEmpty();
        assertThat(container.transactions).doesNotContain("committed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void adviceThatSwallowsTheRefusalOfALostClaimCompletesNothing(String place) {
        advise(place, call -> {
            container.clock.advance(Duration.ofMinutes(5));
            try {
                return call.proceed();
            } catch (ClaimLostException logged) {
                return null;
            }
        });

        assertThatThrownBy(() -> container.call(method("single"), "A-1")).isInstanceOf(ClaimLostException.class);

        assertThat(orders.handled).isEmpty();
        assertThat(container.store.completions()).isEmpty();
    }

    @Test
    void adviceMayAnswerInsteadOfARetryThatIsRefused() throws Exception {
        inside.add(call -> {
            try {
                return retry(1, attempt -> container.clock.advance(Duration.ofMinutes(5)))
                        .invoke(call);
            } catch (IllegalStateException failure) {
                return "fallback after " + failure.getMessage();
            }
        });
        failing(new IllegalStateException("first"));

        assertThat(container.call(method("single"), "A-1")).isEqualTo("fallback after first");

        assertThat(orders.handled).containsExactly("A-1");
    }

    private void assertFails(String name, AtomicReference<Delivery> delivery, Class<? extends Exception> failure) {
        Called called = method(name);
        List<Message<?>> messages = container.polled(called, "A-1");
        delivery.set(ContainerCalls.delivery(messages.get(0)));

        assertThatThrownBy(() -> container.call(called, messages)).isInstanceOf(failure);
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void retryOfABatchIsGivenAllMessagesAfterAnException(String place) throws Exception {
        advise(place, retry(1));
        failing(new IllegalStateException("no carrier"));

        container.call(method("batch"), "A-1", "A-2");

        assertThat(orders.handled).containsExactly("A-1", "A-2", "A-1", "A-2");
        assertCompletedOnce("A-1", "A-2");
    }

    /**
     * Advice fails after the handler's result, like a commit that fails within a retry. The effects of the first call
     * are undone.
     */
    @ParameterizedTest
    @ValueSource(ints = {-1, 1})
    void batchIsCalledAgainIfAdviceFailedAfterItsResult(int failed) throws Exception {
        outside.add(retry(1));
        AtomicInteger commits = new AtomicInteger();
        inside.add(call -> {
            Object result = call.proceed();
            if (commits.incrementAndGet() == 1) {
                throw new IllegalStateException("could not serialize access");
            }
            return result;
        });
        if (failed >= 0) {
            failingItems(failed);
        }

        container.call(method("batch"), "A-1", "A-2");

        assertThat(orders.handled).containsExactly("A-1", "A-2", "A-1", "A-2");
        assertCompletedOnce("A-1", "A-2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void futureThatARetryReturnsEndsTheDelivery(String place) throws Exception {
        advise(place, retry(1));
        failing(new IllegalStateException("not connected"));
        CompletableFuture<String> work = new CompletableFuture<>();
        orders.calls.add(() -> work);

        container.call(method("later"), "A-1");
        assertThat(container.store.completions()).isEmpty();
        work.complete("shipped");

        assertThat(orders.handled).containsExactly("A-1", "A-1");
        assertCompletedOnce("A-1");
    }

    private MethodInterceptor onAnotherThread() {
        return call -> {
            Future<@Nullable Object> work = pool.submit(() -> proceed(call));
            try {
                return work.get();
            } catch (ExecutionException failure) {
                throw failure.getCause();
            }
        };
    }

    private static @Nullable Object proceed(MethodInvocation call) throws Exception {
        try {
            return call.proceed();
        } catch (Exception failure) {
            throw failure;
        } catch (Throwable error) {
            throw new AssertionError(error);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void handlerRunsUnderItsClaimOnAThreadThatItsAdviceWaitsFor(String place) throws Exception {
        advise(place, onAnotherThread());
        advise(place, retry(1));
        failing(new IllegalStateException("first"));

        assertThat(container.call(method("single"), "A-1")).isEqualTo("shipped");

        assertThat(orders.handled).containsExactly("A-1", "A-1");
        assertCompletedOnce("A-1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void handlerIsNotCalledOnAnotherThreadIfItsClaimIsLost(String place) {
        advise(place, call -> {
            container.clock.advance(Duration.ofMinutes(5));
            return call.proceed();
        });
        advise(place, onAnotherThread());

        assertThatThrownBy(() -> container.call(method("parking"), "A-1")).isInstanceOf(ClaimLostException.class);

        assertThat(orders.handled).isEmpty();
        assertThat(container.store.completions()).isEmpty();
    }

    /** The inner proxy of the bean has the transaction. */
    @Test
    void resultOfATransactionLeavesThroughAllProxies() throws Exception {
        Object inner = container.proxy(orders, outside, inside);
        Object outer = container.proxy(inner, outside, inside);

        assertThat(container.call(container.method(outer, "transactional"), "A-1"))
                .isEqualTo(7);

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.transactions).containsExactly("committed");
    }

    @Test
    void transactionBeginsOnTheThreadThatAdviceOutsideOfItHasChosen() throws Exception {
        outside.add(onAnotherThread());

        assertThat(container.call(method("transactional"), "A-1")).isEqualTo(7);

        assertThat(container.transactions).containsExactly("committed");
    }

    @Test
    void handlerOnAnotherThreadThanItsTransactionIsNotCalled() {
        inside.add(onAnotherThread());

        assertThatIllegalStateException()
                .isThrownBy(() -> container.call(method("transactional"), "A-1"))
                .withMessageContaining("outside of the transaction of its claim")
                .withMessageContaining("order below " + ExactlyOnceAdvisor.ORDER);

        assertThat(orders.handled).isEmpty();
        assertThat(container.transactions).containsExactly("rolled back");
    }

    @ParameterizedTest
    @ValueSource(strings = {"single", "transactional"})
    void claimIsKeptUntilAHandlerEndsThatItsAdviceNoLongerWaitsFor(String name) throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicReference<Future<?>> work = new AtomicReference<>();
        outside.add(call -> {
            work.set(pool.submit(() -> proceed(call)));
            started.await(10, TimeUnit.SECONDS);
            throw new TimeoutException("gave up");
        });
        orders.calls.add(() -> {
            started.countDown();
            mayEnd.await(10, TimeUnit.SECONDS);
            return "shipped";
        });
        Called called = method(name);
        List<Message<?>> messages = container.polled(called, "A-1");

        assertThatThrownBy(() -> container.call(called, messages)).isInstanceOf(TimeoutException.class);
        Delivery delivery = ContainerCalls.delivery(messages.get(0));
        assertThat(delivery.state()).isEqualTo(DeliveryState.HANDLING);
        assertThat(delivery.processed()).isNotDone();
        assertThat(container.store.releases()).isEmpty();
        mayEnd.countDown();
        work.get().get();

        assertThat(delivery.processed()).succeedsWithin(Duration.ofSeconds(10));
        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"single", "transactional"})
    void adviceOutsideThatDoesNotWaitForTheHandlerFailsItsDelivery(String name) throws Exception {
        CountDownLatch hasReturned = new CountDownLatch(1);
        AtomicReference<Future<?>> work = new AtomicReference<>();
        outside.add(call -> {
            work.set(pool.submit(() -> {
                hasReturned.await(10, TimeUnit.SECONDS);
                return proceed(call);
            }));
            return null;
        });

        assertThatIllegalStateException()
                .isThrownBy(() -> container.call(method(name), "A-1"))
                .withMessageContaining("returned without calling it");
        hasReturned.countDown();

        assertThat(catchThrowable(() -> work.get().get()))
                .as("its message will be redelivered")
                .isNotNull();
        assertThat(orders.handled).isEmpty();
        assertThat(container.store.completions()).isEmpty();
    }

    @Test
    void adviceInsideMayAnswerInsteadOfTheHandler() throws Exception {
        inside.add(call -> "fallback");

        assertThat(container.call(method("single"), "A-1")).isEqualTo("fallback");

        assertCompletedOnce("A-1");
    }

    @Test
    void handlerThatAdviceInsidePostponesIsCalledWithAWarning() throws Exception {
        CountDownLatch hasReturned = new CountDownLatch(1);
        AtomicReference<Future<?>> work = new AtomicReference<>();
        inside.add(call -> {
            work.set(pool.submit(() -> {
                hasReturned.await(10, TimeUnit.SECONDS);
                return proceed(call);
            }));
            return null;
        });

        try (CapturedLog log = new CapturedLog(ListenerInvocation.class)) {
            container.call(method("parking"), "A-1");
            hasReturned.countDown();
            work.get().get();

            assertThat(log.text()).contains("Orders.parking is called after its key was completed");
        }
        assertThat(orders.handled).containsExactly("A-1");
    }

    /**
     * A hedged request makes a second call on another thread. A retry or fallback around a time limiter also makes a
     * second call, because the first call continues after its time limit.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void secondCallWhileTheFirstStillRunsElsewhereIsNotMade(boolean onTheContainersThread) throws Exception {
        CountDownLatch mayEnd = new CountDownLatch(1);
        CountDownLatch started = new CountDownLatch(1);
        orders.calls.add(() -> {
            started.countDown();
            mayEnd.await();
            return "shipped";
        });
        outside.add(call -> {
            MethodInvocation second = ((ProxyMethodInvocation) call).invocableClone();
            Future<Object> first = pool.submit(() -> proceed(call));
            started.await();
            ExecutorService other = Executors.newSingleThreadExecutor();
            Throwable refused = catchThrowable(() -> {
                if (onTheContainersThread) {
                    proceed(second);
                } else {
                    other.submit(() -> proceed(second)).get();
                }
            });
            assertThat(NestedExceptionUtils.getMostSpecificCause(refused))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("while an earlier call of it still runs");
            other.shutdown();
            mayEnd.countDown();
            return first.get();
        });

        assertThat(container.call(method("single"), "A-1")).isEqualTo("shipped");

        assertThat(orders.handled).containsExactly("A-1");
    }

    @Test
    void secondCallWhileTheFirstStillRunsOnTheContainersThreadIsNotMade() throws Exception {
        inside.add(call -> {
            MethodInvocation second = ((ProxyMethodInvocation) call).invocableClone();
            orders.calls.add(() -> {
                assertThatThrownBy(() -> pool.submit(() -> proceed(second)).get())
                        .rootCause()
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("while an earlier call of it still runs");
                return "shipped";
            });
            return call.proceed();
        });

        assertThat(container.call(method("single"), "A-1")).isEqualTo("shipped");

        assertThat(orders.handled).containsExactly("A-1");
        assertCompletedOnce("A-1");
    }

    @Test
    void callAfterTheHandlersEndIsNotMade() throws Exception {
        AtomicReference<MethodInvocation> again = new AtomicReference<>();
        inside.add(call -> {
            again.set(((ProxyMethodInvocation) call).invocableClone());
            return call.proceed();
        });
        container.call(method("single"), "A-1");

        assertThatThrownBy(() -> again.get().proceed()).isInstanceOf(ClaimLostException.class);

        assertThat(orders.handled).containsExactly("A-1");
    }

    @Test
    void adviceOutsideOfATransactionRunsOnceWhereTheHandlerIsCalledTwice() {
        List<String> advised = new ArrayList<>();
        outside.add(counting("outside", advised));
        inside.add(counting("inside", advised));
        failingItems(1);

        assertThatThrownBy(() -> container.call(method("transactionalBatch"), "A-1", "A-2", "A-3"))
                .isInstanceOf(FailedItems.class);

        assertThat(orders.handled).containsExactly("A-1", "A-2", "A-3", "A-1", "A-3");
        assertThat(advised).containsExactly("outside", "inside", "inside");
        assertThat(container.transactions).containsExactly("rolled back", "committed");
    }

    @Test
    void argumentsThatAdviceHasChangedOutsideOfATransactionReachTheHandler() throws Exception {
        outside.add(call -> {
            call.getArguments()[0] = "decrypted";
            return call.proceed();
        });

        container.call(method("transactional"), "A-1");

        assertThat(orders.handled).containsExactly("decrypted");
    }

    @Test
    void retryOutsideOfATransactionBeginsAnother() throws Exception {
        outside.add(retry(2));
        failing(new IOException("first"), new IllegalStateException("second"));
        Called called = method("transactional");
        List<Message<?>> messages = container.polled(called, "A-1");

        assertThat(container.call(called, messages)).isEqualTo(7);

        assertThat(orders.handled).containsExactly("A-1", "A-1", "A-1");
        assertThat(container.transactions).containsExactly("rolled back", "rolled back", "committed");
        assertThat(container.store.claims()).as("parked after no attempt").isEmpty();
        Delivery delivery = ContainerCalls.delivery(messages.get(0));
        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
        assertThat(delivery.processed()).isDone();
    }

    @Test
    void failureThatAnotherTransactionMadeGoodParksNoKey() throws Exception {
        outside.add(retry(1));
        failing(new IOException("first"));

        assertThat(container.call(method("transactional"), "A-1")).isEqualTo(7);

        assertThat(container.transactions).containsExactly("rolled back", "committed");
        assertThat(container.store.claims()).as("parked after no attempt").isEmpty();
    }

    /** Advice that fails counts as the handler does, unless a stop has made it fail before it called the method. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void failureOfAdviceCountsUnlessItWasStopped(boolean isStopped) {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        inside.add(call -> {
            if (isStopped) {
                delivery.get().stopHandler();
            }
            throw new IllegalStateException("no permit");
        });

        assertFails("limitedToOne", delivery, IllegalStateException.class);

        assertThat(orders.handled).isEmpty();
        assertThat(container.store.parkings()).hasSize(isStopped ? 0 : 1);
    }

    @Test
    void lastFailureOfARetriedTransactionParksItsKey() {
        outside.add(retry(1));
        failing(new IllegalStateException("first"), new IOException("the carrier refuses"));
        Called called = method("transactional");
        List<Message<?>> messages = container.polled(called, "A-1");

        assertThatThrownBy(() -> container.call(called, messages)).isInstanceOf(IOException.class);

        assertThat(container.store.parkings()).hasSize(1);
        assertThat(ContainerCalls.delivery(messages.get(0)).attempt().failure()).contains("java.io.IOException");
        assertThat(ContainerCalls.delivery(messages.get(0)).state()).isEqualTo(DeliveryState.FAILED);
    }

    @Test
    void retriedTransactionHandlesOnlyTheMessagesThatAreNotCommitted() throws Exception {
        outside.add(retry(1));
        failingItems(1);
        orders.calls.add(() -> null);

        container.call(method("transactionalBatch"), "A-1", "A-2", "A-3");

        assertThat(orders.handled).containsExactly("A-1", "A-2", "A-3", "A-1", "A-3", "A-2");
        assertThat(container.transactions).containsExactly("rolled back", "committed", "committed");
    }

    @Test
    void transactionIsNotBegunAgainOnceItsListenerStops() {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        outside.add(retry(2, attempt -> delivery.get().abandon()));
        failing(new IllegalStateException("first"));

        assertFails("transactional", delivery, IllegalStateException.class);

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.transactions).containsExactly("rolled back");
    }

    private ThrowableAssertAlternative<?> assertCalledMoreThanOnce(String name, String... keys) {
        var thrown = assertThatIllegalStateException()
                .isThrownBy(() -> container.call(method(name), keys))
                .withMessageContaining(name + " was called more than once in the transaction of its claim")
                .withMessageContaining("order below " + ExactlyOnceAdvisor.ORDER);

        assertThat(orders.handled).containsExactly(keys);
        assertThat(container.transactions).containsExactly("rolled back");
        assertThat(container.store.parkings()).isEmpty();
        return thrown;
    }

    /** The writes of the failed call would be committed with those of the next call. */
    @Test
    void retryWithinATransactionIsInVain() {
        inside.add(retry(2));
        failing(new IllegalStateException("first"));

        try (CapturedLog log = new CapturedLog(ListenerInvocation.class)) {
            assertThatThrownBy(() -> container.call(method("transactional"), "A-1"))
                    .hasMessage("first");

            assertThat(log.text().lines())
                    .singleElement()
                    .asString()
                    .startsWith("WARN")
                    .contains("calls it again in vain");
        }
        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.transactions).containsExactly("rolled back");
    }

    /** A second call could fail only because the first one has written its rows, and would park the key. */
    @Test
    void retryWithinATransactionAddsNoFailureOfItsOwn() {
        inside.add(retry(1));
        failing(new IllegalStateException("the carrier does not answer"), new IOException("duplicate key"));

        assertThatThrownBy(() -> container.call(method("transactional"), "A-1"))
                .hasMessage("the carrier does not answer");

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.store.parkings()).isEmpty();
    }

    @Test
    void retryOfABatchsResultWithinATransactionIsInVain() {
        inside.add(call -> {
            Object result = ((ProxyMethodInvocation) call).invocableClone().proceed();
            return ((BatchResult) result).failures().isEmpty() ? result : call.proceed();
        });
        failingItems(1);

        assertCalledMoreThanOnce("transactionalBatch", "A-1", "A-2");
    }

    /** Advice fails after the handler's result, and the advice around it repeats both. */
    @ParameterizedTest
    @ValueSource(strings = {"transactional", "transactionalBatch"})
    void handlerThatIsRepeatedAfterItsSuccessIsRolledBack(String name) {
        inside.add(retry(1));
        AtomicInteger checks = new AtomicInteger();
        inside.add(call -> {
            Object result = call.proceed();
            if (checks.incrementAndGet() == 1) {
                throw new IllegalStateException("the audit does not answer");
            }
            return result;
        });

        assertCalledMoreThanOnce(name, "A-1");
    }

    private static Object twice(MethodInvocation call) throws Throwable {
        ((ProxyMethodInvocation) call).invocableClone().proceed();
        return call.proceed();
    }

    /** The advice is at fault, and not the message, whatever the listener parks. */
    @ParameterizedTest
    @ValueSource(strings = {"parkedAfterOne", "batchParkedAfterOne"})
    void repeatedCallParksNoKey(String name) {
        inside.add(ListenerInvocationTests::twice);

        assertCalledMoreThanOnce(name, "A-1")
                .satisfies(thrown -> assertThat(thrown.getSuppressed()).isEmpty());
    }

    /** Spring skips all advice that it has already called for the same call object. */
    @ParameterizedTest
    @ValueSource(strings = {"twice", "three times", "then as a clone", "from within"})
    void callThatProceedsAgainIsRolledBack(String how) {
        inside.add(call -> {
            Object result = call.proceed();
            switch (how) {
                case "twice" -> call.proceed();
                case "three times" -> {
                    catchThrowable(call::proceed);
                    catchThrowable(call::proceed);
                }
                case "then as a clone" ->
                    ((ProxyMethodInvocation) call).invocableClone().proceed();
                default -> {}
            }
            return result;
        });
        inside.add(call -> {
            if (how.equals("from within")) {
                orders.calls.add(() -> proceed(call));
            }
            return call.proceed();
        });

        assertThatIllegalStateException()
                .isThrownBy(() -> container.call(method("transactional"), "A-1"))
                .withMessageContaining("was called more than once");

        assertThat(container.transactions).containsExactly("rolled back");
    }

    /** The method catches the exception of a second call, and names it as the failure of a message. */
    @Test
    void refusalThatABatchNamesIsNotSuppressedByItself() {
        inside.add(call -> {
            orders.calls.add(() -> BatchResult.allSucceeded().andFailed(0, catchThrowable(() -> proceed(call))));
            return call.proceed();
        });

        assertCalledMoreThanOnce("batchParkedAfterOne", "A-1");
    }

    /** The transaction begins in the innermost proxy that claims keys: in the inner one, or around this advice. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void callOfAnOuterProxyThatProceedsTwiceIsMadeOnce(boolean innerClaims) {
        ProxyFactory inner = new ProxyFactory(orders);
        inner.setProxyTargetClass(true);
        if (innerClaims) {
            inner.addAdvisor(container.advisor);
        }
        ProxyFactory outer = new ProxyFactory(inner.getProxy());
        outer.setProxyTargetClass(true);
        outer.addAdvisor(container.advisor);
        outer.addAdvice((MethodInterceptor) call -> {
            call.proceed();
            return call.proceed();
        });
        Called called = container.method(outer.getProxy(), "parkedAfterOne");

        Throwable failure = catchThrowable(() -> container.call(called, "A-1"));

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.transactions).containsExactly(innerClaims ? "committed" : "rolled back");
        assertThat(container.store.parkings()).isEmpty();
        if (innerClaims) {
            assertThat(failure).isNull();
        } else {
            assertThat(failure).hasMessageContaining("was called more than once");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"outside", "inside"})
    void callThatProceedsTwiceIsNotRepeatedOnceItsHandlerHasBeenStopped(String place) {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        advise(place, call -> {
            try {
                return call.proceed();
            } catch (IllegalStateException failure) {
                delivery.get().stopHandler();
                return call.proceed();
            }
        });
        failing(new IllegalStateException("first"));

        assertFails("single", delivery, IllegalStateException.class);

        assertThat(orders.handled).containsExactly("A-1");
    }

    @Test
    void repeatedCallParksNoKeyOfABatch() {
        inside.add(ListenerInvocationTests::twice);
        failingItems(1);

        assertCalledMoreThanOnce("batchParkedAfterOne", "A-1", "A-2", "A-3").withStackTraceContaining("no carrier");
    }

    /** The advice throws an exception that the listener parks. */
    @Test
    void failureOfAdviceThatRepeatsACallParksNoKey() {
        inside.add(call -> {
            assertThatIllegalStateException().isThrownBy(() -> twice(call));
            throw new IOException("the audit does not answer");
        });

        assertCalledMoreThanOnce("parkedAfterOne", "A-1").withStackTraceContaining("the audit does not answer");
    }

    @Test
    void errorOfAdviceThatRepeatsACallParksNoKey() {
        inside.add(call -> {
            assertThatIllegalStateException().isThrownBy(() -> twice(call));
            throw new AssertionError("the audit is wrong");
        });

        assertThatThrownBy(() -> container.call(method("parkedAfterOne"), "A-1"))
                .hasStackTraceContaining("the audit is wrong");

        assertThat(container.store.parkings()).isEmpty();
        assertThat(container.transactions).containsExactly("rolled back");
    }

    /** Advice calls the handler for each message. The first call succeeds, and the others are refused. */
    @Test
    void successOfAPartOfABatchParksNoKey() {
        inside.add(call -> {
            for (Object order : (List<?>) call.getArguments()[0]) {
                ((ProxyMethodInvocation) call).invocableClone(List.of(order)).proceed();
            }
            return BatchResult.allSucceeded();
        });

        assertThatIllegalStateException()
                .isThrownBy(() -> container.call(method("batchParkedAfterOne"), "A-1", "A-2", "A-3"))
                .withMessageContaining("was called more than once");

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.store.parkings()).isEmpty();
    }

    /**
     * Whether calls for single messages have messages in common is not known, so only the first one is made. The other
     * messages are not at fault.
     */
    @ParameterizedTest
    @ValueSource(strings = {"failure", "own exception", "result", "success"})
    void failureOfAPartOfABatchParksNoKey(String end) {
        inside.add(call -> {
            IOException failure = null;
            for (Object order : (List<?>) call.getArguments()[0]) {
                try {
                    ((ProxyMethodInvocation) call)
                            .invocableClone(List.of(order))
                            .proceed();
                } catch (IOException failed) {
                    failure = failed;
                } catch (IllegalStateException refused) {
                    assertThat(refused).hasMessageContaining("was called more than once");
                }
            }
            return switch (end) {
                case "failure" -> throw failure;
                case "own exception" -> throw new IOException("one of them failed", failure);
                case "result" -> BatchResult.allSucceeded().andFailed(0, failure);
                default -> BatchResult.allSucceeded();
            };
        });
        failing(new IOException("the carrier refuses"));

        assertThatIllegalStateException()
                .isThrownBy(() -> container.call(method("batchParkedAfterOne"), "A-1", "A-2"))
                .withMessageContaining("was called more than once")
                .withStackTraceContaining("the carrier refuses");

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.store.parkings()).isEmpty();
        assertThat(container.transactions).containsExactly("rolled back");
    }

    /** How advice ends that calls the method again after a failure. */
    enum Repetition {
        ANSWERS {
            @Override
            Object end(Exception first, Exception second) {
                return 0;
            }
        },
        THROWS_THE_FIRST {
            @Override
            Object end(Exception first, Exception second) throws Exception {
                throw first;
            }
        },
        THROWS_THE_SECOND {
            @Override
            Object end(Exception first, Exception second) throws Exception {
                throw second;
            }
        },
        SUPPRESSES {
            @Override
            Object end(Exception first, Exception second) throws Exception {
                first.addSuppressed(second);
                throw first;
            }
        },
        CAUSES {
            @Override
            Object end(Exception first, Exception second) throws Exception {
                second.initCause(first);
                throw second;
            }
        };

        abstract Object end(Exception first, Exception second) throws Exception;
    }

    /** The method has not returned, so the message is at fault, whatever the advice does. */
    @ParameterizedTest
    @EnumSource
    void messageWhoseCallIsRepeatedAfterItsFailureIsParked(Repetition repetition) {
        inside.add(call -> {
            try {
                return ((ProxyMethodInvocation) call).invocableClone().proceed();
            } catch (IOException first) {
                return repetition.end(first, catchThrowableOfType(Exception.class, call::proceed));
            }
        });
        failing(new IOException("the carrier refuses"));

        assertThatThrownBy(() -> container.call(method("transactional"), "A-1"))
                .isInstanceOf(IOException.class)
                .hasMessage("the carrier refuses");

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.store.parkings()).hasSize(1);
        assertThat(container.transactions).containsExactly("rolled back");
    }

    /** The method has run once, but one of the calls was on another thread. */
    @Test
    void callOnAnotherThreadBesideTheOneOfTheTransactionIsToldAsSuch() {
        inside.add(call -> {
            assertThatThrownBy(() -> pool.submit(() -> proceed(((ProxyMethodInvocation) call).invocableClone()))
                    .get());
            return call.proceed();
        });

        assertThatIllegalStateException()
                .isThrownBy(() -> container.call(method("parkedAfterOne"), "A-1"))
                .withMessageContaining("outside of the transaction");

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.store.parkings()).isEmpty();
        assertThat(container.transactions).containsExactly("rolled back");
    }

    /** Each message's call is refused, because the listener has stopped. */
    @Test
    void refusedCallsOfABatchAreNoRepetition() {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        inside.add(call -> {
            delivery.get().stopHandler();
            BatchResult result = BatchResult.allSucceeded();
            for (int index = 0; index < 2; index++) {
                result = result.andFailed(0, catchThrowable(((ProxyMethodInvocation) call).invocableClone()::proceed));
            }
            return result;
        });

        assertFails("batchParkedAfterOne", delivery, ClaimLostException.class);

        assertThat(orders.handled).isEmpty();
        assertThat(container.store.parkings()).isEmpty();
    }

    /** The advice catches the refusal, and throws an exception of its own. */
    @Test
    void callOnAnotherThreadThanItsTransactionParksNoKey() {
        inside.add(call -> {
            try {
                return pool.submit(() -> proceed(call)).get();
            } catch (ExecutionException refused) {
                throw new IOException("no thread", refused);
            }
        });

        assertThatThrownBy(() -> container.call(method("parkedAfterOne"), "A-1"))
                .isInstanceOf(IOException.class);

        assertThat(orders.handled).isEmpty();
        assertThat(container.store.parkings()).isEmpty();
        assertThat(container.transactions).containsExactly("rolled back");
    }

    /** The listener stops before the method is called. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void callThatIsRefusedInATransactionParksNoKey(boolean isHidden) {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        inside.add(call -> {
            delivery.get().stopHandler();
            try {
                return call.proceed();
            } catch (ClaimLostException refused) {
                if (isHidden) {
                    return 0;
                }
                throw refused;
            }
        });

        assertFails("parkedAfterOne", delivery, ClaimLostException.class);

        assertThat(container.store.parkings()).isEmpty();
    }

    /** Two refused calls are still no call. */
    @Test
    void repeatedRefusalIsTheFailureOfATransaction() {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        inside.add(call -> {
            delivery.get().stopHandler();
            for (int refused = 0; refused < 2; refused++) {
                assertThatThrownBy(((ProxyMethodInvocation) call).invocableClone()::proceed)
                        .isInstanceOf(ClaimLostException.class);
            }
            return 0;
        });

        assertFails("transactional", delivery, ClaimLostException.class);

        assertThat(container.transactions).containsExactly("rolled back");
    }

    /** The listener stops after the first of two calls, and the second is refused. */
    @Test
    void refusalOfALaterCallThatAdviceHidesRollsTheTransactionBack() {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        inside.add(call -> {
            Object result = ((ProxyMethodInvocation) call).invocableClone().proceed();
            delivery.get().stopHandler();
            assertThatIllegalStateException().isThrownBy(call::proceed);
            return result;
        });

        assertFails("parkedAfterOne", delivery, IllegalStateException.class);

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.store.parkings()).isEmpty();
        assertThat(container.transactions).containsExactly("rolled back");
    }

    /** The method has done all of its work. */
    @Test
    void failureOfAdviceAfterTheHandlersSuccessMayBeHidden() throws Exception {
        inside.add(call -> {
            try {
                call.proceed();
                throw new IllegalStateException("the audit does not answer");
            } catch (IllegalStateException unimportant) {
                return 8;
            }
        });

        assertThat(container.call(method("transactional"), "A-1")).isEqualTo(8);

        assertThat(container.transactions).containsExactly("committed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"java.io.IOException", "java.lang.AssertionError"})
    void failureThatAdviceHidesRollsTheTransactionBack(Class<? extends Throwable> type) throws Exception {
        Throwable failure = type.getConstructor().newInstance();
        inside.add(call -> {
            try {
                return call.proceed();
            } catch (Throwable hidden) {
                return 0;
            }
        });
        orders.calls.add(() -> {
            ReflectionUtils.rethrowException(failure);
            return null;
        });

        assertThatThrownBy(() -> container.call(method("transactional"), "A-1")).isSameAs(failure);

        assertThat(container.transactions).containsExactly("rolled back");
    }

    /** The method was not called in the second transaction, and the first one is undone. */
    @Test
    void refusalThatAdviceHidesInALaterTransactionRollsItBack() {
        AtomicReference<Delivery> delivery = new AtomicReference<>();
        AtomicInteger calls = new AtomicInteger();
        outside.add(retry(1));
        inside.add(call -> {
            if (calls.incrementAndGet() == 2) {
                delivery.get().stopHandler();
            }
            try {
                return call.proceed();
            } catch (Exception hidden) {
                return 0;
            }
        });
        failing(new IllegalStateException("first"));

        assertFails("transactional", delivery, ClaimLostException.class);

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.transactions).containsExactly("rolled back", "rolled back");
    }

    /** Advice that asks for the method on another thread, and answers whatever comes of it. */
    @Test
    void callOnAnotherThreadThatAdviceHidesRollsTheTransactionBack() {
        inside.add(call -> {
            assertThatThrownBy(() -> pool.submit(() -> proceed(call)).get())
                    .rootCause()
                    .isInstanceOf(IllegalStateException.class);
            return 0;
        });

        try (CapturedLog log = new CapturedLog(ListenerInvocation.class)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> container.call(method("transactional"), "A-1"))
                    .withMessageContaining("outside of the transaction of its claim");

            assertThat(log.text()).contains("does not run: an effect is missing");
        }
        assertThat(orders.handled).isEmpty();
        assertThat(container.transactions).containsExactly("rolled back");
    }

    @Test
    void failuresOfItemsThatAdviceHidesRollTheTransactionBack() {
        inside.add(call -> {
            call.proceed();
            return BatchResult.allSucceeded();
        });
        failingItems(0);

        assertThatThrownBy(() -> container.call(method("transactionalBatch"), "A-1", "A-2"))
                .isInstanceOf(FailedItems.class);

        assertThat(orders.handled).containsExactly("A-1", "A-2", "A-2");
        assertThat(container.transactions).containsExactly("rolled back", "committed");
    }

    @Test
    void failuresOfItemsThatAdviceAddsToTheHandlersCount() {
        inside.add(call -> {
            BatchResult result = (BatchResult) call.proceed();
            return result.failures().isEmpty() ? result : result.andFailed(1, new IOException("no paper"));
        });
        failingItems(0);

        assertThatThrownBy(() -> container.call(method("transactionalBatch"), "A-1", "A-2", "A-3"))
                .isInstanceOf(FailedItems.class);

        assertThat(orders.handled).containsExactly("A-1", "A-2", "A-3", "A-3");
    }

    @Test
    void adviceMayReplaceTheFailureOfATransaction() {
        inside.add(call -> {
            try {
                return call.proceed();
            } catch (IllegalStateException failure) {
                throw new IOException("the carrier refuses", failure);
            }
        });
        failing(new IllegalStateException("first"));

        assertThatThrownBy(() -> container.call(method("transactional"), "A-1")).isInstanceOf(IOException.class);

        assertThat(container.store.parkings()).hasSize(1);
        assertThat(container.transactions).containsExactly("rolled back");
    }

    @Test
    void failureOfATransactionDoesNotCountInTheNext() throws Exception {
        outside.add(retry(1));
        inside.add(retry(1));
        failing(new IllegalStateException("first"));

        assertThat(container.call(method("transactional"), "A-1")).isEqualTo(7);

        assertThat(orders.handled).containsExactly("A-1", "A-1");
        assertThat(container.transactions).containsExactly("rolled back", "committed");
    }

    @Test
    void adviceInsideATransactionMayAnswerInsteadOfTheHandler() throws Exception {
        inside.add(call -> 0);

        assertThat(container.call(method("transactional"), "A-1")).isEqualTo(0);

        assertThat(orders.handled).isEmpty();
        assertThat(container.transactions).containsExactly("committed");
    }

    @Test
    void committedTransactionIsNotRepeated() throws Exception {
        outside.add(call -> {
            ((ProxyMethodInvocation) call).invocableClone().proceed();
            return call.proceed();
        });

        assertThat(container.call(method("transactional"), "A-1")).isEqualTo(7);

        assertThat(orders.handled).containsExactly("A-1");
        assertThat(container.transactions).containsExactly("committed");
    }

    @Test
    void callThatAListenersMethodMakesOfItselfOrOfAnotherListenerIsRefused() {
        ContainerCalls others = new ContainerCalls();
        Orders other = (Orders) others.proxy(new Orders());
        for (Callable<?> call : List.<Callable<?>>of(
                () -> orders.self.single("A-1", null),
                () -> orders.self.later("A-1"),
                () -> other.single("A-1", null))) {
            orders.calls.add(call);
            assertThatIllegalStateException()
                    .isThrownBy(() -> container.call(method("single"), "A-1"))
                    .withMessageContaining("without a delivery");
        }

        assertThat(orders.handled).containsExactly("A-1", "A-1", "A-1");
    }

    @Test
    void callThatAdviceMakesOfAnotherListenerIsRefused() {
        Orders other = (Orders) container.proxy(new Orders());
        outside.add(call -> {
            other.single("A-1", null);
            return call.proceed();
        });

        assertThatIllegalStateException()
                .isThrownBy(() -> container.call(method("single"), "A-1"))
                .withMessageContaining("without a delivery");

        assertThat(orders.handled).isEmpty();
    }

    @Test
    void directCallIsRefusedWithTheWaysThatWork() {
        method("single");

        assertThatIllegalStateException()
                .isThrownBy(() -> orders.self.single("A-1", null))
                .withMessageContaining("Orders.single was called without a delivery")
                .withMessageContaining("ExactlyOnceOperations.once(")
                .withMessageContaining("ExactlyOnceDriver")
                .withMessageContaining("AopTestUtils.getUltimateTargetObject(bean)");
    }

    @Test
    void spyIsStubbedThroughItsProxy() throws Exception {
        Orders spied = spy(orders);
        Orders proxy = (Orders) container.proxy(spied, outside, inside);
        Called called = container.method(proxy, "single");

        doThrow(new IllegalStateException("stubbed"))
                .doCallRealMethod()
                .when(proxy)
                .single(any(), any());

        assertThatThrownBy(() -> container.call(called, "A-1")).hasMessage("stubbed");
        assertThat(container.call(called, "A-1")).isEqualTo("shipped");
        assertThat(orders.handled).containsExactly("A-1");
        assertCompletedAfterOneRelease();
    }

    private void assertCompletedAfterOneRelease() {
        assertThat(container.store.releases()).hasSize(1);
        assertThat(container.store.completions()).hasSize(1);
    }
}
