package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
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
                    calls.leaveMethod(returned);
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
        calls.leaveMethod("shipped");
        assertThat(elsewhere(() -> handle(calls, null))).isEqualTo(true);
        assertThat(elsewhere(() -> handle(calls, null))).isEqualTo(true);
        assertThat(calls.begin()).isTrue();
        calls.leaveMethod(null);

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
                    shared.leaveMethod(null);
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
        calls.leaveMethod(work);

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
        calls.leaveMethod(stubborn);
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
        calls.leaveMethod(work);

        CompletableFuture<?> ending = calls.endWith(CompletableFuture.completedFuture("fallback"), () -> {});
        ending.cancel(true);

        assertThat(work).isCancelled();
        assertThat(ending).isCancelled();
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
