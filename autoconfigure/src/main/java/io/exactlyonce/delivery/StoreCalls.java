package io.exactlyonce.delivery;

import io.exactlyonce.time.Timer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.BackOffExecution;

/**
 * Calls a store again while it does not answer. Every call of a store can be repeated as it is. No thread waits, but for a store
 * that makes its callers wait.
 */
public final class StoreCalls {

    private static final Logger log = LoggerFactory.getLogger(StoreCalls.class);

    private final Timer timer;
    private final Executor thread;
    private final boolean tells;

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
     * @return the answer; fails with what the last call failed with, {@link IllegalArgumentException} at once, since repeating
     *     the call cannot help
     */
    public <T> CompletableFuture<T> untilAnswered(
            String what, Object keys, BackOff backOff, BooleanSupplier wanted, Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        repeat(answer, what, keys, backOff.start(), wanted, call);
        return answer;
    }

    private <T> void repeat(
            CompletableFuture<T> answer,
            String what,
            Object keys,
            BackOffExecution pauses,
            BooleanSupplier wanted,
            Supplier<CompletableFuture<T>> call) {
        // A timer that refused may have kept this nevertheless, as the JDK's does where it gets no thread.
        if (answer.isDone()) {
            return;
        }
        // What depends on a future that failed wraps the failure, and throws if that does not tell what it is.
        var unused = begun(call).handle((given, failed) -> {
            if (failed == null) {
                answer.complete(given);
                return answer.isDone();
            }
            Throwable failure = unwrap(failed);
            long pause = failure instanceof IllegalArgumentException ? BackOffExecution.STOP : pauses.nextBackOff();
            if (pause == BackOffExecution.STOP || !wanted.getAsBoolean()) {
                answer.completeExceptionally(failure);
                return answer.isDone();
            }
            tell(what, keys, failure);
            Runnable again = () -> repeat(answer, what, keys, pauses, wanted, call);
            unlessRefused(
                    answer,
                    failure,
                    () -> timer.after(
                            Duration.ofMillis(pause),
                            () -> unlessRefused(answer, failure, () -> thread.execute(again))));
            return answer.isDone();
        });
    }

    /** As when the system refuses a thread: what waits for the answer must not do so for ever. */
    private static void unlessRefused(CompletableFuture<?> answer, Throwable failure, Runnable repetition) {
        try {
            repetition.run();
        } catch (Throwable refused) {
            suppress(failure, refused);
            answer.completeExceptionally(failure);
        }
    }

    /** What cannot be told must not end the repeats: a store's exception may fail when it is read, or memory be used up. */
    private void tell(String what, Object keys, Throwable failure) {
        if (!tells) {
            return;
        }
        try {
            log.warn("{} {} failed; trying again", what, keys, failure);
        } catch (Throwable untold) {
            // The answer tells the failure, if it is the last one.
        }
    }

    /** A call that cannot even begin, as when the system refuses a thread, has failed like any other. */
    public static <T> CompletableFuture<T> begun(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        } catch (Throwable failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    /** Completes when the time is over; fails at once where it cannot be waited for, as when the system refuses a thread. */
    CompletableFuture<Void> pause(Duration length) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        try {
            timer.after(length, () -> over.complete(null));
        } catch (Throwable untimed) {
            over.completeExceptionally(untimed);
        }
        return over;
    }

    /** Notes another failure with one, unless they are the same, as where memory is used up: Java refuses that. */
    static void suppress(Throwable failure, Throwable another) {
        if (another != failure) {
            failure.addSuppressed(another);
        }
    }

    /** Returns the failure of a call itself. */
    public static Throwable unwrap(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }
}
