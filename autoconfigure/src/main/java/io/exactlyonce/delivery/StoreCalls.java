package io.exactlyonce.delivery;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.time.Timer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.BackOffExecution;

/**
 * Calls a store again while it does not answer. Every call of a store can be repeated as it is. No thread waits, but for a store
 * that makes its callers wait.
 *
 * <p>Of an outage the first failure is logged with its stack trace, and each further one in one line. It is over when a call is
 * answered while no other is being repeated.
 */
public final class StoreCalls {

    private static final Logger log = LoggerFactory.getLogger(StoreCalls.class);

    private final Timer timer;
    private final Executor thread;
    private final boolean tells;
    private final AtomicInteger repeating = new AtomicInteger();
    private final AtomicBoolean isTold = new AtomicBoolean();

    private StoreCalls(Timer timer, Executor thread, boolean tells) {
        this.timer = timer;
        this.thread = thread;
        this.tells = tells;
    }

    /** Tells of each call that failed, and calls again on the timer's thread: no call may block. */
    StoreCalls(Timer timer) {
        this(timer, Runnable::run, true);
    }

    /**
     * Tells of nothing.
     *
     * @param thread calls again, also where that blocks
     */
    public static StoreCalls inSilence(Timer timer, Executor thread) {
        return new StoreCalls(timer, thread, false);
    }

    /**
     * Calls until there is an answer, the attempts are used up, or it is not wanted any more.
     *
     * @param keys what the call is about, for logs
     * @return the answer; fails with what the last call failed with that reached the store, {@link IllegalArgumentException} at
     *     once, since repeating the call cannot help
     */
    public <T> CompletableFuture<T> untilAnswered(
            String what, Object keys, BackOff backOff, BooleanSupplier wanted, Supplier<CompletableFuture<T>> call) {
        Repeated<T> repeated = new Repeated<>(what, keys, backOff.start(), wanted, call);
        repeated.attempt();
        return repeated.answer;
    }

    /** One call, with its repeats. */
    private final class Repeated<T> {

        private final String what;
        private final Object keys;
        private final BackOffExecution pauses;
        private final BooleanSupplier wanted;
        private final Supplier<CompletableFuture<T>> call;
        private final CompletableFuture<T> answer = new CompletableFuture<>();
        private @Nullable Throwable failure;

        Repeated(
                String what,
                Object keys,
                BackOffExecution pauses,
                BooleanSupplier wanted,
                Supplier<CompletableFuture<T>> call) {
            this.what = what;
            this.keys = keys;
            this.pauses = pauses;
            this.wanted = wanted;
            this.call = call;
        }

        void attempt() {
            var unused = call.get().whenComplete((given, failed) -> {
                if (failed == null) {
                    answered(given);
                } else {
                    failed(unwrap(failed));
                }
            });
        }

        private void answered(T given) {
            int others = failure == null ? repeating.get() : repeating.decrementAndGet();
            if (others == 0 && isTold.get()) {
                isTold.set(false);
            }
            answer.complete(given);
        }

        private void failed(Throwable failed) {
            boolean isFirst = failure == null;
            // An earlier one may have reached the store.
            failure = isFirst || !(failed instanceof ClaimStoreBusyException) ? failed : failure;
            long pause = failed instanceof IllegalArgumentException ? BackOffExecution.STOP : pauses.nextBackOff();
            if (pause == BackOffExecution.STOP || !wanted.getAsBoolean()) {
                repeating.addAndGet(isFirst ? 0 : -1);
                answer.completeExceptionally(failure);
                return;
            }
            repeating.addAndGet(isFirst ? 1 : 0);
            tell(failed);
            timer.after(
                    Duration.ofMillis(pause),
                    () -> Boundary.guard(
                            "A call of the claim store",
                            () -> thread.execute(this::attempt),
                            answer::completeExceptionally));
        }

        private void tell(Throwable failed) {
            if (!tells) {
                return;
            }
            if (isTold.compareAndSet(false, true)) {
                log.warn("{} {} failed; trying again", what, keys, failed);
            } else {
                log.warn("{} {} failed; trying again: {}", what, keys, why(failed));
            }
        }
    }

    /** Completes when the time is over. */
    CompletableFuture<Void> pause(Duration length) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        timer.after(length, () -> over.complete(null));
        return over;
    }

    /** Returns why a call failed, in one line. */
    public static String why(Throwable failure) {
        return NestedExceptionUtils.getMostSpecificCause(failure)
                .toString()
                .lines()
                .findFirst()
                .orElse("");
    }

    /** Returns the failure of a call itself. */
    public static Throwable unwrap(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }
}
