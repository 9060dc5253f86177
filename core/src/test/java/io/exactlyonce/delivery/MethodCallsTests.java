package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MethodCallsTests {

    private static final int ROUNDS = 2000;
    private static final int THREADS = 4;

    private final MethodCalls calls = new MethodCalls("Orders.handle");
    private final ExecutorService pool = Executors.newCachedThreadPool();

    @AfterEach
    void stop() throws InterruptedException {
        pool.shutdown();
        assertThat(pool.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }

    private <T> T elsewhere(Callable<T> work) throws Exception {
        return pool.submit(work).get(10, TimeUnit.SECONDS);
    }

    /** Calls the method through advice on the current thread, which is not the container's. */
    private static Object handle(MethodCalls calls, @Nullable Object returned) {
        try {
            return calls.elsewhere(() -> {
                boolean mayBegin = calls.begin();
                if (mayBegin) {
                    calls.leaveMethod(MethodCalls.future(returned), false);
                }
                return returned == null ? mayBegin : returned;
            });
        } catch (Throwable failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void callsOnDifferentThreadsMayFollowEachOther() throws Exception {
        assertThat(calls.begin()).isTrue();
        calls.leaveMethod(null, false);
        assertThat(elsewhere(() -> handle(calls, null))).isEqualTo(true);
        assertThat(elsewhere(() -> handle(calls, null))).isEqualTo(true);
        assertThat(calls.begin()).isTrue();
        calls.leaveMethod(null, false);

        assertThat(calls.end(true)).isNull();
        assertThat(calls.hasReturned()).isTrue();
    }

    @Test
    void ofCallsThatBeginAtTheSameTimeOneIsMade() throws Exception {
        for (int round = 0; round < ROUNDS / 10; round++) {
            MethodCalls shared = new MethodCalls("Orders.handle");
            CyclicBarrier barrier = new CyclicBarrier(THREADS);
            List<Future<Boolean>> begun = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                begun.add(pool.submit(() -> {
                    barrier.await();
                    return isMade(shared, barrier);
                }));
            }
            int made = 0;
            for (Future<Boolean> each : begun) {
                made += each.get(10, TimeUnit.SECONDS) ? 1 : 0;
            }
            assertThat(made).isEqualTo(1);
        }
    }

    /** Begins a call, and ends it when all threads have tried to. */
    private static boolean isMade(MethodCalls shared, CyclicBarrier barrier) {
        try {
            return Boolean.TRUE.equals(shared.elsewhere(() -> {
                boolean isMade;
                try {
                    isMade = shared.begin();
                } catch (IllegalStateException refused) {
                    isMade = false;
                }
                barrier.await();
                if (isMade) {
                    shared.leaveMethod(null, false);
                }
                return isMade;
            }));
        } catch (Throwable failure) {
            throw new AssertionError(failure);
        }
    }

    /** Either the end sees no call, or it gets the call, whose thread then completes it. */
    @Test
    void endDuringACallIsToldOfItsEnd() throws Exception {
        int running = 0;
        for (int round = 0; round < ROUNDS; round++) {
            MethodCalls shared = new MethodCalls("Orders.handle");
            CyclicBarrier barrier = new CyclicBarrier(2);
            Future<Object> call = pool.submit(() -> {
                barrier.await();
                return handle(shared, "shipped");
            });
            barrier.await();
            CompletableFuture<?> work = shared.end(false);

            call.get(10, TimeUnit.SECONDS);
            if (work != null) {
                running++;
                assertThat(work).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("shipped");
            }
            assertThat(shared.begin()).isFalse();
        }
        assertThat(running).isLessThan(ROUNDS);
    }

    /** Begins a call on another thread, which the container then stops waiting for, and returns that call. */
    private CompletableFuture<?> abandoned(@Nullable Object returned, @Nullable Object answer) throws Exception {
        CompletableFuture<CompletableFuture<?>> running = new CompletableFuture<>();
        Future<Object> call = pool.submit(() -> {
            try {
                return calls.elsewhere(() -> {
                    calls.begin();
                    calls.leaveMethod(MethodCalls.future(returned), false);
                    running.complete(calls.end(true));
                    if (answer instanceof Throwable failure) {
                        throw failure;
                    }
                    return answer;
                });
            } catch (IllegalArgumentException failure) {
                return failure;
            } catch (Throwable failure) {
                throw new AssertionError(failure);
            }
        });
        assertThat(call.get(10, TimeUnit.SECONDS)).isSameAs(answer);
        assertThat(calls.hasReturned()).isFalse();
        return running.join();
    }

    @Test
    void threadThatNobodyAwaitsEndsWithItsAnswer() throws Exception {
        assertThat(abandoned("shipped", "told").join()).isEqualTo("told");
    }

    @Test
    void threadThatNobodyAwaitsEndsWithItsFailure() throws Exception {
        IllegalArgumentException failure = new IllegalArgumentException("no such carrier");

        assertThat(abandoned("shipped", failure).handle((result, thrown) -> thrown))
                .isCompletedWithValue(failure);
    }

    @Test
    void threadThatNobodyAwaitsEndsWithTheFutureOfItsAdvice() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> answer = new CompletableFuture<>();

        CompletableFuture<?> running = abandoned(work, answer);
        work.complete("shipped");
        assertThat(running).isNotDone();
        answer.complete("told");

        assertThat(running.join()).isEqualTo("told");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void threadThatNobodyAwaitsEndsNotBeforeTheFutureOfTheMethod(boolean isFuture) throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();

        CompletableFuture<?> running =
                abandoned(work, isFuture ? CompletableFuture.completedFuture("fallback") : "fallback");
        assertThat(running).isNotDone();
        work.complete("shipped");

        assertThat(running.join()).isEqualTo("shipped");
    }

    @Test
    void methodThatIsEnteredAgainOnItsThreadIsRefused() throws Exception {
        assertThatThrownBy(() -> elsewhere(this::beginTwice))
                .hasRootCauseInstanceOf(IllegalStateException.class)
                .hasStackTraceContaining("while an earlier call of it still runs");
    }

    private Object beginTwice() throws Exception {
        try {
            return calls.elsewhere(() -> calls.begin() && calls.begin());
        } catch (Exception failure) {
            throw failure;
        } catch (Throwable error) {
            throw new AssertionError(error);
        }
    }

    /** A thread inside advice, which does what the test says. */
    private final class Inside {

        private final ExecutorService thread = Executors.newSingleThreadExecutor();
        private final SynchronousQueue<Runnable> steps = new SynchronousQueue<>();
        private final CompletableFuture<?> hasLeft = CompletableFuture.runAsync(this::enter, thread);
        private boolean isLeaving;

        private void enter() {
            try {
                calls.elsewhere(() -> {
                    while (!isLeaving) {
                        steps.take().run();
                    }
                    return "left";
                });
            } catch (Throwable failure) {
                throw new AssertionError(failure);
            }
        }

        private <T> T step(Callable<T> step) throws Exception {
            FutureTask<T> task = new FutureTask<>(step);
            assertThat(steps.offer(task, 10, TimeUnit.SECONDS)).isTrue();
            return task.get(10, TimeUnit.SECONDS);
        }

        /** Tries to begin a call. Returns whether it was not refused. */
        boolean begins() throws Exception {
            return step(() -> {
                try {
                    return calls.begin();
                } catch (IllegalStateException refused) {
                    return false;
                }
            });
        }

        void ends(boolean hasFailed) throws Exception {
            step(() -> {
                calls.leaveMethod(null, hasFailed);
                return true;
            });
        }

        void leaves() throws Exception {
            step(() -> isLeaving = true);
            hasLeft.get(10, TimeUnit.SECONDS);
            thread.shutdown();
        }
    }

    @Test
    void successOfARepetitionMayBeCommittedByTheAdviceOfTheFirstThread() throws Exception {
        Inside first = new Inside();
        Inside second = new Inside();
        Inside third = new Inside();
        assertThat(first.begins()).isTrue();
        first.ends(true);
        assertThat(second.begins()).isTrue();
        second.ends(false);
        assertThat(third.begins()).as("the second may commit").isFalse();
        second.leaves();

        assertThat(third.begins()).as("the first may commit").isFalse();
        CompletableFuture<?> running = calls.end(true);
        assertThat(running).isNotDone();
        third.leaves();
        first.leaves();
        assertThat(running.join()).isEqualTo("left");
    }

    /** The second thread leaves while, or after, the third repeats its failed call. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void successOfANestedRepetitionMayBeCommittedByTheAdviceOfTheFirstThread(boolean leavesEarly) throws Exception {
        Inside first = new Inside();
        Inside second = new Inside();
        Inside third = new Inside();
        Inside fourth = new Inside();
        assertThat(first.begins()).isTrue();
        first.ends(true);
        assertThat(second.begins()).isTrue();
        second.ends(true);
        assertThat(third.begins()).isTrue();
        if (leavesEarly) {
            second.leaves();
        }
        assertThat(first.begins()).isFalse();
        assertThat(fourth.begins()).isFalse();
        third.ends(false);
        third.leaves();
        if (!leavesEarly) {
            second.leaves();
        }

        assertThat(fourth.begins()).as("the first may commit").isFalse();
        fourth.leaves();
        first.leaves();
        assertThat(calls.end(true)).isNull();
    }

    @Test
    void eachThreadMayRepeatWhatHasFailedOnTheOneBefore() throws Exception {
        Inside first = new Inside();
        assertThat(first.begins()).isTrue();
        first.ends(true);
        for (int attempt = 0; attempt < 3; attempt++) {
            Inside next = new Inside();
            assertThat(next.begins()).isTrue();
            next.ends(true);
            next.leaves();
        }
        assertThat(first.begins()).as("the first thread itself").isTrue();
        first.ends(false);
        first.leaves();
    }

    /** A future that carries a context, which is closed. */
    @Test
    void futureThatNothingCanBeDerivedFromIsAwaited() {
        CompletableFuture<String> work = new CompletableFuture<>() {
            @Override
            public <U> CompletableFuture<U> newIncompleteFuture() {
                throw new IllegalStateException("The context is closed");
            }
        };
        calls.begin();
        calls.leaveMethod(work, false);

        CompletableFuture<?> ending = calls.endWith(work, () -> {});
        assertThat(ending).isNotDone();
        work.complete("shipped");

        assertThat(ending.join()).isEqualTo("shipped");
    }

    @Test
    void threadMayWorkForTwoContainers() throws Exception {
        ExecutorService single = Executors.newSingleThreadExecutor();
        MethodCalls others = new MethodCalls("Parcels.handle");

        single.submit(() -> calledWithin(others)).get(10, TimeUnit.SECONDS);

        assertThat(single.submit(calls::isElsewhere).get(10, TimeUnit.SECONDS))
                .as("the thread has left")
                .isTrue();
        single.shutdown();
        assertThat(calls.end(true)).isNull();
        assertThat(others.end(true)).isNull();
    }

    private Object calledWithin(MethodCalls others) {
        try {
            return calls.elsewhere(() -> {
                assertThat(handle(others, null)).isEqualTo(true);
                assertThat(calls.isElsewhere()).as("the thread is inside").isFalse();
                assertThat(others.isElsewhere()).isTrue();
                assertThat(calls.begin()).isTrue();
                calls.leaveMethod(null, false);
                return "shipped";
            });
        } catch (Throwable failure) {
            throw new AssertionError(failure);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noCallBeginsAfterTheEnd(boolean hasReturned) throws Exception {
        assertThat(calls.end(hasReturned)).isNull();

        assertThat(calls.begin()).isFalse();
        assertThat(elsewhere(() -> handle(calls, null))).isEqualTo(false);
        assertThat(calls.hasReturned()).isEqualTo(hasReturned);
    }

    @Test
    void endBesideAFutureReturnsIt() {
        CompletableFuture<String> work = new CompletableFuture<>();
        calls.begin();
        calls.leaveMethod(work, false);

        assertThatIllegalStateException()
                .isThrownBy(calls::begin)
                .withMessageContaining(
                        "Orders.handle is called on thread 'main' while an earlier call of it still runs");
        assertThat(calls.end(true)).isSameAs(work);
        assertThat(calls.hasReturned()).isFalse();
        work.complete("shipped");
        assertThat(calls.begin()).isFalse();
    }

    @Test
    void futureThatIgnoresItsCancellationDecides() {
        CompletableFuture<String> stubborn = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterrupt) {
                return false;
            }
        };
        calls.begin();
        calls.leaveMethod(stubborn, false);
        CompletableFuture<String> answer = stubborn.thenApply(result -> result);

        CompletableFuture<?> ending = calls.endWith(answer, () -> {});
        assertThat(ending.cancel(true)).isTrue();
        assertThat(answer).isCancelled();
        assertThat(ending).isNotDone();
        stubborn.complete("shipped");

        assertThat(ending.join()).isEqualTo("shipped");
    }

    @Test
    void cancellationReachesTheCallAfterTheAnswer() {
        CompletableFuture<String> work = new CompletableFuture<>();
        calls.begin();
        calls.leaveMethod(work, false);

        CompletableFuture<?> ending = calls.endWith(CompletableFuture.completedFuture("fallback"), () -> {});
        ending.cancel(true);

        assertThat(work).isCancelled();
        assertThat(ending).isCancelled();
    }

    @Test
    void cancellationIsPassedOnUntilAdviceHasEndedItsFuture() {
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> second = new CompletableFuture<>();

        assertThat(MethodCalls.mirror(first).cancel(true)).isTrue();
        CompletableFuture<?> ended = MethodCalls.mirror(second);
        ended.completeExceptionally(new TimeoutException("too slow"));

        assertThat(ended.cancel(true)).isFalse();
        assertThat(first).isCancelled();
        assertThat(second).isNotDone();
    }

    /** Applications make such futures to carry a context. */
    @Test
    void mirrorHasTheExecutorAndTheKindOfTheFuture() {
        Executor own = Runnable::run;
        CompletableFuture<String> work = new CompletableFuture<>() {
            @Override
            public Executor defaultExecutor() {
                return own;
            }

            @Override
            public <U> CompletableFuture<U> newIncompleteFuture() {
                return new CompletableFuture<>() {
                    @Override
                    public String toString() {
                        return "of the application";
                    }
                };
            }
        };

        assertThat(MethodCalls.mirror(work).defaultExecutor()).isSameAs(own);
        assertThat(MethodCalls.mirror(work).thenApply(result -> result)).hasToString("of the application");
    }

    @Test
    void answerThatIsRefusedFails() {
        CompletableFuture<?> ending = calls.endWith(CompletableFuture.completedFuture("fallback"), () -> {
            throw new IllegalStateException("the method was not called");
        });

        assertThat(ending).isCompletedExceptionally();
        assertThat(calls.hasReturned()).isFalse();
    }

    @Test
    void stagesAreFuturesIfTheyCanBecomeOne() {
        CompletionStage<String> minimal = CompletableFuture.completedStage("shipped");

        assertThat(MethodCalls.future(minimal).join()).isEqualTo("shipped");
        assertThat(MethodCalls.future("shipped")).isNull();
        assertThat(MethodCalls.future(null)).isNull();
        assertThat(MethodCalls.future(new CompletableFuture<String>() {
                    @Override
                    public CompletableFuture<String> toCompletableFuture() {
                        throw new UnsupportedOperationException();
                    }
                }))
                .isNull();
    }
}
