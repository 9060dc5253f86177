package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.listener.method.ContainerCalls.Called;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.messaging.Message;

/** Advice that stops waiting: for a thread on which it has called the handler, or for the future that the handler returned. */
class AdviceOnOtherThreadsTests {

    static class Orders {

        final List<String> handled = new CopyOnWriteArrayList<>();
        final Deque<Callable<?>> calls = new ConcurrentLinkedDeque<>();

        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        String now(String order) throws Exception {
            return (String) next(order, "shipped");
        }

        @SuppressWarnings("unchecked")
        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        CompletableFuture<String> later(String order) throws Exception {
            return (CompletableFuture<String>) next(order, CompletableFuture.completedFuture("shipped"));
        }

        @SuppressWarnings("unchecked")
        @ExactlyOnceListener(queueNames = "orders", key = "#order")
        CompletionStage<String> staged(String order) throws Exception {
            return (CompletionStage<String>) next(order, CompletableFuture.completedStage("shipped"));
        }

        private Object next(String order, Object otherwise) throws Exception {
            handled.add(order);
            Callable<?> call = calls.poll();
            return call == null ? otherwise : call.call();
        }
    }

    private final ContainerCalls container = new ContainerCalls();
    private final Orders orders = new Orders();
    private final ExecutorService pool = Executors.newCachedThreadPool();
    private final List<MethodInterceptor> outside = new ArrayList<>();
    private final List<MethodInterceptor> inside = new ArrayList<>();
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final AtomicReference<Future<?>> elsewhere = new AtomicReference<>();
    private final AtomicReference<CompletableFuture<Object>> answer = new AtomicReference<>();

    private Delivery delivery = ListenerRig.delivery();

    @AfterEach
    void stop() throws InterruptedException {
        mayEnd.countDown();
        pool.shutdown();
        assertThat(pool.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
        assertThat(Thread.interrupted()).isFalse();
    }

    private @Nullable Object call(String name) throws Exception {
        Called called = container.method(container.proxy(orders, outside, inside), name);
        List<Message<?>> messages = container.polled(called, "A-1");
        delivery = ContainerCalls.delivery(messages.get(0));
        return container.call(called, messages);
    }

    /** Calls all further advice and the handler, as interceptors that repeat calls do. */
    private static @Nullable Object proceed(MethodInvocation call) throws Exception {
        try {
            return ((ProxyMethodInvocation) call).invocableClone().proceed();
        } catch (Exception failure) {
            throw failure;
        } catch (Throwable error) {
            throw new AssertionError(error);
        }
    }

    /** Stops waiting for a call on another thread as soon as the call has started. */
    private MethodInterceptor timeLimit(Callable<?> then) {
        return call -> {
            elsewhere.set(pool.submit(() -> proceed(call)));
            awaitLatch(started);
            return then.call();
        };
    }

    private static Object tooSlow() throws TimeoutException {
        throw new TimeoutException("too slow");
    }

    private static void awaitLatch(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    }

    private Callable<?> slowly(Callable<?> end) {
        return () -> {
            started.countDown();
            awaitLatch(mayEnd);
            return end.call();
        };
    }

    private void assertStillHandled() {
        assertThat(delivery.state()).isEqualTo(DeliveryState.HANDLING);
        assertThat(container.store.completions()).isEmpty();
        assertThat(container.store.releases()).isEmpty();
    }

    private void assertCompleted() {
        await().until(() -> delivery.processed().isDone());
        assertThat(delivery.state()).isEqualTo(DeliveryState.RECORDED);
        assertThat(container.store.completions()).hasSize(1);
        assertThat(container.store.releases()).isEmpty();
    }

    private void assertReleasedFor(Class<? extends Throwable> failure) {
        await().until(() -> delivery.processed().isDone());
        assertThat(container.store.completions()).isEmpty();
        assertThat(container.store.releases()).hasSize(1);
        assertThat(container.store.releases().get(0).error()).contains(failure.getName());
    }

    /** A transaction within the time limit commits after the method. */
    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void adviceAfterTheHandlerOnItsThreadDecides(boolean isFallback, boolean commits) throws Exception {
        CountDownLatch commit = new CountDownLatch(1);
        inside.add(timeLimit(() -> isFallback ? "fallback" : tooSlow()));
        inside.add(call -> {
            Object returned = call.proceed();
            commit.countDown();
            awaitLatch(mayEnd);
            if (!commits) {
                throw new IllegalStateException("The commit failed");
            }
            return returned;
        });
        orders.calls.add(() -> {
            started.countDown();
            return "shipped";
        });

        catchThrowable(() -> call("now"));
        awaitLatch(commit);
        assertStillHandled();
        mayEnd.countDown();

        if (commits) {
            assertCompleted();
        } else {
            assertReleasedFor(IllegalStateException.class);
        }
        assertThat(orders.handled).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void retryOnTheThreadThatNobodyAwaitsIsPartOfTheCall(boolean isFallback) throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        CountDownLatch mayFail = new CountDownLatch(1);
        inside.add(timeLimit(() -> isFallback ? "fallback" : tooSlow()));
        inside.add(call -> {
            try {
                return proceed(call);
            } catch (IllegalStateException first) {
                return proceed(call);
            }
        });
        orders.calls.add(() -> {
            started.countDown();
            awaitLatch(mayFail);
            throw new IllegalStateException("not connected");
        });
        orders.calls.add(() -> {
            second.countDown();
            awaitLatch(mayEnd);
            return "shipped";
        });

        catchThrowable(() -> call("now"));
        mayFail.countDown();
        awaitLatch(second);
        assertStillHandled();
        mayEnd.countDown();

        assertCompleted();
        assertThat(orders.handled).hasSize(2);
    }

    @Test
    void errorOfAdviceDoesNotEndTheCallOnAnotherThread() throws Exception {
        inside.add(timeLimit(() -> {
            throw new AssertionError("advice");
        }));
        orders.calls.add(slowly(() -> "shipped"));

        assertThatThrownBy(() -> call("now")).hasStackTraceContaining("AssertionError: advice");
        assertStillHandled();
        mayEnd.countDown();

        assertCompleted();
    }

    @Test
    void errorOfAHandlerThatNobodyAwaitsIsItsFailure() throws Exception {
        inside.add(timeLimit(() -> "fallback"));
        orders.calls.add(slowly(() -> {
            throw new StackOverflowError();
        }));

        call("now");
        mayEnd.countDown();

        assertReleasedFor(StackOverflowError.class);
    }

    private @Nullable Object hop(boolean isElsewhere, MethodInvocation call) throws Exception {
        return isElsewhere ? pool.submit(() -> proceed(call)).get() : proceed(call);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void secondCallBesideTheFutureOfTheFirstIsNotMade(boolean isElsewhere) throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        orders.calls.add(() -> work);
        inside.add(call -> {
            Object first = hop(isElsewhere, call);
            assertThat(NestedExceptionUtils.getMostSpecificCause(catchThrowable(() -> hop(isElsewhere, call))))
                    .hasMessageContaining("while an earlier call of it still runs");
            assertThat(NestedExceptionUtils.getMostSpecificCause(catchThrowable(() -> hop(!isElsewhere, call))))
                    .hasMessageContaining("while an earlier call of it still runs");
            return first;
        });

        call("later");
        assertStillHandled();
        work.complete("shipped");

        assertCompleted();
        assertThat(orders.handled).hasSize(1);
    }

    @Test
    void secondCallOfTheSameThreadBesideTheFutureOfTheFirstIsNotMade() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        orders.calls.add(() -> work);
        inside.add(call -> pool.submit(() -> proceed(call)).get());
        inside.add(call -> {
            Object first = proceed(call);
            assertThatThrownBy(() -> proceed(call)).hasMessageContaining("while an earlier call of it still runs");
            return first;
        });

        call("later");
        work.complete("shipped");

        assertCompleted();
        assertThat(orders.handled).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void futureThatAdviceNoLongerWaitsForDecides(boolean isElsewhere, boolean isFallback) throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        orders.calls.add(() -> work);
        inside.add(call -> {
            hop(isElsewhere, call);
            return isFallback ? CompletableFuture.completedFuture("fallback") : tooSlow();
        });

        catchThrowable(() -> call("later"));
        assertStillHandled();
        work.completeExceptionally(new IllegalArgumentException("no such carrier"));

        assertReleasedFor(IllegalArgumentException.class);
    }

    @SuppressWarnings("unchecked")
    private static CompletableFuture<Object> future(@Nullable Object returned) {
        return (CompletableFuture<Object>) returned;
    }

    /** The future that advice has returned. */
    private CompletableFuture<Object> given(CompletableFuture<Object> future) {
        answer.set(future);
        return future;
    }

    /** Ends the future of advice, like {@code completeOnTimeout} and {@code orTimeout}. */
    private void endAnswer(boolean isFallback) {
        if (isFallback) {
            answer.get().complete("fallback");
        } else {
            answer.get().completeExceptionally(new TimeoutException("too slow"));
        }
    }

    /** Like time limits of futures. */
    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void futureOfTheHandlerDecidesIfThatOfTheAdviceEndsEarlier(boolean isFallback, boolean succeeds) throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        orders.calls.add(() -> work);
        inside.add(call -> given(future(call.proceed()).thenApply(result -> result)));

        call("later");
        endAnswer(isFallback);
        assertStillHandled();
        if (succeeds) {
            work.complete("shipped");
            assertCompleted();
        } else {
            work.completeExceptionally(new IllegalArgumentException("no such carrier"));
            assertReleasedFor(IllegalArgumentException.class);
        }
    }

    @Test
    void adviceMayReplaceTheEndOfAFuture() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        orders.calls.add(() -> work);
        inside.add(call -> future(call.proceed()).exceptionally(failure -> "fallback"));

        call("later");
        work.completeExceptionally(new IllegalArgumentException("no such carrier"));

        assertCompleted();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void stopCancelsTheFutureOfTheHandlerBehindThatOfItsAdvice(boolean hasAdviceEnded) throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        orders.calls.add(() -> work);
        inside.add(call -> given(future(call.proceed()).thenApply(result -> result)));

        call("later");
        if (hasAdviceEnded) {
            endAnswer(true);
        }
        delivery.call().stop();

        await().until(work::isCancelled);
        await().until(() -> delivery.processed().isDone());
        assertThat(container.store.completions()).isEmpty();
        assertThat(container.store.releases()).as("its work may continue").isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void futureMayBeRetriedAfterItsEnd(boolean isElsewhere) throws Exception {
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> second = new CompletableFuture<>();
        orders.calls.add(() -> first);
        orders.calls.add(() -> second);
        inside.add(call -> future(hop(isElsewhere, call)).exceptionallyCompose(failure -> {
            try {
                return future(hop(isElsewhere, call));
            } catch (Exception refused) {
                return CompletableFuture.failedFuture(refused);
            }
        }));

        call("later");
        pool.submit(() -> first.completeExceptionally(new IllegalStateException("not connected")))
                .get();
        await().until(() -> orders.handled.size() == 2);
        assertStillHandled();
        second.complete("shipped");

        assertCompleted();
    }

    @Test
    void futureMayBeRetriedOnTheThreadThatEndsIt() throws Exception {
        CompletableFuture<String> first = new CompletableFuture<>();
        orders.calls.add(() -> first);
        inside.add(call -> pool.submit(() -> proceed(call)).get());
        inside.add(call -> future(proceed(call)).exceptionallyCompose(failure -> {
            try {
                return future(proceed(call));
            } catch (Exception refused) {
                return CompletableFuture.failedFuture(refused);
            }
        }));

        call("later");
        first.completeExceptionally(new IllegalStateException("not connected"));

        assertCompleted();
        assertThat(orders.handled).hasSize(2);
    }

    /** Advice may end the future that it gets, such as with {@code orTimeout}, but not the handler's own. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void adviceCannotEndTheFutureOfTheHandler(boolean isFallback) throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        orders.calls.add(() -> work);
        inside.add(call -> given(future(call.proceed())));

        call("later");
        endAnswer(isFallback);
        assertStillHandled();
        work.complete("shipped");

        assertCompleted();
    }

    @Test
    void adviceMayCancelTheFutureOfTheHandler() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        orders.calls.add(() -> work);
        inside.add(call -> {
            CompletableFuture<Object> given = future(call.proceed());
            given.cancel(true);
            return given;
        });

        call("later");

        assertThat(work).isCancelled();
        assertReleasedFor(CancellationException.class);
    }

    /** The stage that the handler returns is no {@code CompletableFuture}, so its end is seen by a copy. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void stageMayBeReplacedAndRetried(boolean isRetry) throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        orders.calls.add(() -> CompletableFuture.completedStage("order").thenCompose(order -> work));
        inside.add(call -> {
            CompletionStage<?> first = (CompletionStage<?>) call.proceed();
            return first.<Object>thenApply(result -> result).exceptionallyCompose(failure -> {
                try {
                    return isRetry ? stage(proceed(call)) : CompletableFuture.completedStage("fallback");
                } catch (Exception refused) {
                    return CompletableFuture.failedStage(refused);
                }
            });
        });

        call("staged");
        work.completeExceptionally(new IllegalStateException("not connected"));

        assertCompleted();
        assertThat(orders.handled).hasSize(isRetry ? 2 : 1);
    }

    @SuppressWarnings("unchecked")
    private static CompletionStage<Object> stage(@Nullable Object returned) {
        return (CompletionStage<Object>) returned;
    }

    /** The pool's threads are also the container's. */
    @Test
    void containersThreadMayBeTheOtherThreadOfItsOwnCallLater() throws Exception {
        ExecutorService only = Executors.newSingleThreadExecutor();
        inside.add(call -> given(CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return future(proceed(call));
                            } catch (Exception failure) {
                                throw new CompletionException(failure);
                            }
                        },
                        only)
                .thenCompose(work -> work)));
        orders.calls.add(slowly(() -> CompletableFuture.completedFuture("shipped")));

        only.submit(() -> call("later")).get();
        awaitLatch(started);
        endAnswer(false);
        assertStillHandled();
        mayEnd.countDown();

        assertCompleted();
        only.shutdown();
        assertThat(only.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }

    private void failing(int times, String name) {
        for (int time = 0; time < times; time++) {
            orders.calls.add(() -> {
                if (name.equals("now")) {
                    throw new IllegalStateException("not connected");
                }
                return CompletableFuture.failedFuture(new IllegalStateException("not connected"));
            });
        }
    }

    /** A retry on yet another thread, which the thread of the first call waits for. */
    @ParameterizedTest
    @ValueSource(strings = {"now", "later"})
    void anotherThreadMayRepeatACallThatHasFailed(String name) throws Exception {
        failing(1, name);
        inside.add(call -> pool.submit(() -> proceed(call)).get());
        inside.add(call -> {
            assertThat(catchThrowable(() -> future(proceed(call)).join())).hasStackTraceContaining("not connected");
            return pool.submit(() -> proceed(call)).get();
        });

        call(name);

        assertCompleted();
        assertThat(orders.handled).hasSize(2);
    }

    private MethodInterceptor retryOnOtherThreads(int attempts) {
        return call -> {
            for (int attempt = 1; ; attempt++) {
                try {
                    Object returned = pool.submit(() -> proceed(call)).get();
                    return returned instanceof CompletableFuture<?> work
                            ? CompletableFuture.completedFuture(work.join())
                            : returned;
                } catch (ExecutionException | CompletionException failure) {
                    if (attempt == attempts) {
                        throw failure;
                    }
                }
            }
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"now", "later"})
    void eachAttemptMayHaveAThreadOfItsOwn(String name) throws Exception {
        inside.add(call -> pool.submit(() -> proceed(call)).get());
        inside.add(call -> {
            assertThat(catchThrowable(() -> future(proceed(call)).join())).hasStackTraceContaining("not connected");
            return proceed(call);
        });
        inside.add(retryOnOtherThreads(2));
        failing(3, name);

        call(name);

        assertCompleted();
        assertThat(orders.handled).hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"now", "later"})
    void retriesOnOtherThreadsMayBeNested(String name) throws Exception {
        inside.add(call -> pool.submit(() -> proceed(call)).get());
        inside.add(call -> {
            assertThat(catchThrowable(() -> future(call.proceed()).join())).hasStackTraceContaining("not connected");
            return retryOnOtherThreads(2).invoke(call);
        });
        inside.add(retryOnOtherThreads(2));
        failing(3, name);

        call(name);

        assertCompleted();
        assertThat(orders.handled).hasSize(4);
    }

    @Test
    void anotherThreadMayNotRepeatACallThatMayStillCommit() throws Exception {
        inside.add(call -> pool.submit(() -> proceed(call)).get());
        inside.add(call -> {
            Object first = proceed(call);
            assertThat(NestedExceptionUtils.getMostSpecificCause(catchThrowable(
                            () -> pool.submit(() -> proceed(call)).get())))
                    .hasMessageContaining("while an earlier call of it still runs");
            return first;
        });

        call("now");

        assertCompleted();
        assertThat(orders.handled).hasSize(1);
    }

    @Test
    void stopCancelsTheFutureOfAThreadThatNobodyAwaits() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        inside.add(timeLimit(AdviceOnOtherThreadsTests::tooSlow));
        inside.add(call -> {
            Object first = proceed(call);
            started.countDown();
            awaitLatch(mayEnd);
            return first;
        });
        orders.calls.add(() -> work);

        catchThrowable(() -> call("later"));
        assertStillHandled();
        delivery.call().stop();

        await().until(work::isCancelled);
        await().until(() -> delivery.processed().isDone());
        assertThat(container.store.completions()).isEmpty();
        assertThat(container.store.releases()).as("its work may continue").isEmpty();
    }

    @Test
    void asynchronousHandlerThatAdvicePostponesIsCalledWithAWarning() throws Exception {
        inside.add(call -> {
            elsewhere.set(pool.submit(() -> {
                awaitLatch(mayEnd);
                return proceed(call);
            }));
            return CompletableFuture.completedFuture("accepted");
        });

        try (CapturedLog log = new CapturedLog(ListenerInvocation.class)) {
            call("later");
            mayEnd.countDown();
            elsewhere.get().get();

            assertThat(log.text()).contains("Orders.later is called after its key was completed");
        }
        assertThat(orders.handled).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"now", "later"})
    void adviceOutsideThatAnswersInsteadOfTheHandlerFailsItsDelivery(String name) throws Exception {
        outside.add(call -> name.equals("now") ? "accepted" : CompletableFuture.completedFuture("accepted"));

        catchThrowable(() -> call(name));

        assertReleasedFor(IllegalStateException.class);
        assertThat(orders.handled).isEmpty();
    }
}
