package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.time.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.util.backoff.FixedBackOff;

/** Trap: a repetition that cannot be timed leaves its delivery without an end, renewed for ever. */
class StoreCallsTests {

    @Test
    void callFailsWithItsOwnFailureWhereNoRepetitionCanBeTimed() {
        IllegalStateException outage = new IllegalStateException("the store is away");
        RejectedExecutionException noThread = new RejectedExecutionException("no thread");
        Timer broken = (delay, task) -> {
            throw noThread;
        };

        CompletableFuture<Object> answer = new StoreCalls(broken)
                .untilAnswered(
                        "Completing",
                        "orders/1",
                        new FixedBackOff(1, 3),
                        () -> true,
                        () -> CompletableFuture.failedFuture(outage));

        assertThat(answer.handle((given, failure) -> failure).getNow(null))
                .isSameAs(outage)
                .hasSuppressedException(noThread);
    }

    @Test
    void failureThatCannotBeToldIsAnsweredAndNotThrown() {
        RuntimeException unreadable = new RuntimeException() {
            @Override
            public String getMessage() {
                throw new IllegalStateException("no message can be read");
            }
        };

        CompletableFuture<Object> answer = new StoreCalls((delay, task) -> task.run())
                .untilAnswered(
                        "Completing",
                        "orders/1",
                        new FixedBackOff(1, 3),
                        () -> true,
                        () -> CompletableFuture.failedFuture(unreadable));

        assertThat(answer.handle((given, failure) -> failure).getNow(null)).isSameAs(unreadable);
    }

    /** As where memory is used up: the JVM throws one and the same error then. Trap: no failure can be suppressed in itself. */
    @Test
    void callEndsThatFailsWithTheErrorForWhichItCannotBeRepeated() {
        OutOfMemoryError usedUp = new OutOfMemoryError("Java heap space (simulated)");
        Timer broken = (delay, task) -> {
            throw usedUp;
        };

        CompletableFuture<Object> answer = new StoreCalls(broken)
                .untilAnswered("Completing", "orders/1", new FixedBackOff(1, 3), () -> true, () -> {
                    throw usedUp;
                });

        assertThat(answer.handle((given, failure) -> failure).getNow(null)).isSameAs(usedUp);
    }

    /**
     * The JDK's timer keeps a task for which it gets no thread, and runs it with the next one for which it does: a claim would be
     * made that no handler knows of, and be held until its lease is over, and then in doubt.
     */
    @Test
    void callThatHasFailedIsNotRepeatedByATimerThatKeptItAlthoughItRefusedTo() {
        List<Runnable> kept = new ArrayList<>();
        Timer refused = (delay, task) -> {
            kept.add(task);
            throw new OutOfMemoryError("unable to create native thread");
        };
        AtomicInteger calls = new AtomicInteger();
        CompletableFuture<Object> answer = new StoreCalls(refused)
                .untilAnswered("Claiming", "orders/1", new FixedBackOff(1, 3), () -> true, () -> {
                    calls.incrementAndGet();
                    return CompletableFuture.failedFuture(new IllegalStateException("the store is away"));
                });
        assertThat(answer).isCompletedExceptionally();

        List.copyOf(kept).forEach(Runnable::run);

        assertThat(kept).hasSize(1);
        assertThat(calls).hasValue(1);
    }

    /** As where memory is used up while it is logged. */
    @Test
    void callIsRepeatedAndEndsAlthoughItsFailureCannotBeLogged() {
        IllegalStateException outage = new IllegalStateException("the store is away") {
            @Override
            public StackTraceElement[] getStackTrace() {
                throw new UnsupportedOperationException("nothing can be logged");
            }
        };
        AtomicInteger calls = new AtomicInteger();

        CompletableFuture<Object> answer = untilAnswered(() -> {
            calls.incrementAndGet();
            return CompletableFuture.failedFuture(outage);
        });

        assertThat(answer.handle((given, failure) -> failure).getNow(null)).isSameAs(outage);
        assertThat(calls).hasValue(4);
    }

    @Test
    void callThatCannotBeginIsRepeatedLikeOneThatFails() {
        AtomicInteger calls = new AtomicInteger();

        CompletableFuture<Object> answer = untilAnswered(() -> {
            if (calls.incrementAndGet() == 1) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return CompletableFuture.completedFuture("recorded");
        });

        assertThat(answer).isCompletedWithValue("recorded");
    }

    /** An outage has causes of all kinds: only a call that is itself wrong is not repeated. */
    @Test
    void failureIsJudgedByItselfAndNotByItsCause() {
        IllegalStateException outage = new IllegalStateException("away", new IllegalArgumentException("no such host"));
        AtomicInteger calls = new AtomicInteger();

        CompletableFuture<Object> answer = untilAnswered(() -> {
            calls.incrementAndGet();
            return CompletableFuture.failedFuture(outage);
        });

        assertThat(answer.handle((given, failure) -> failure).getNow(null)).isSameAs(outage);
        assertThat(calls).hasValue(4);
    }

    @Test
    void failureWithoutACauseIsTheFailureItself() {
        CompletionException bare = new CompletionException((Throwable) null);

        assertThat(StoreCalls.unwrap(bare)).isSameAs(bare);
    }

    /** Three repetitions, each at once. */
    private static CompletableFuture<Object> untilAnswered(Supplier<CompletableFuture<Object>> call) {
        return new StoreCalls((delay, task) -> task.run())
                .untilAnswered("Completing", "orders/1", new FixedBackOff(1, 3), () -> true, call);
    }
}
