package io.exactlyonce.sighting;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.InDoubtPolicy;
import io.exactlyonce.delivery.StoreCalls;
import io.exactlyonce.time.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * The claims' store as observers ask it: on a thread of their own, so that not even one that blocks its callers keeps a handler
 * waiting; a few times if it does not answer; and in silence.
 */
final class ObservedStore {

    private static final long FIRST_PAUSE_MILLIS = 200;

    /** A lost reply is found by one; an outage is soon told. */
    private static final int CLAIM_REPEATS = 1;

    private static final int END_REPEATS = 4;

    private final AsyncClaimStore store;
    private final ClaimSettings terms;
    private final Executor thread;
    private final Timer timer;

    ObservedStore(AsyncClaimStore store, ClaimSettings terms, Executor thread, Timer timer) {
        this.store = store;
        this.terms = terms;
        this.thread = thread;
        this.timer = timer;
    }

    Executor thread() {
        return thread;
    }

    /** Doubts are run again, whatever the listener says of them: the handler runs, so that its key must not be parked. */
    ClaimRequest request(ObservedMessage message) {
        return terms.request(
                new ClaimSpec(message.key(), message.payload().get(), InDoubtPolicy.RERUN), message.lease());
    }

    CompletableFuture<ClaimOutcome> claim(ClaimRequest request) {
        return untilAnswered(CLAIM_REPEATS, () -> store.claimAsync(List.of(request)), outcomes -> outcomes.get(0));
    }

    CompletableFuture<Set<ClaimId>> end(ClaimEnd end) {
        return untilAnswered(END_REPEATS, () -> store.endAsync(List.of(end)), recorded -> recorded);
    }

    private <A, T> CompletableFuture<T> untilAnswered(
            int repeats, Supplier<CompletableFuture<A>> call, Function<A, T> answer) {
        CompletableFuture<T> answered = new CompletableFuture<>();
        ExponentialBackOff pauses = new ExponentialBackOff(FIRST_PAUSE_MILLIS, 2);
        pauses.setMaxAttempts(repeats);
        ask(call, answer, pauses.start(), answered);
        return answered;
    }

    private <A, T> void ask(
            Supplier<CompletableFuture<A>> call,
            Function<A, T> answer,
            BackOffExecution pauses,
            CompletableFuture<T> answered) {
        // A timer that refused may have kept its task nevertheless, as the JDK's does where it gets no thread.
        if (answered.isDone()) {
            return;
        }
        // What depends on a future that failed wraps the failure, and never ends if that does not tell what it is.
        var unused = begun(call).handle((given, failed) -> {
            Throwable failure = failed;
            if (failure == null) {
                try {
                    answered.complete(answer.apply(given));
                    return answered;
                } catch (RuntimeException noAnswer) {
                    failure = noAnswer;
                }
            }
            long pause = StoreCalls.unwrap(failure) instanceof IllegalArgumentException
                    ? BackOffExecution.STOP
                    : pauses.nextBackOff();
            if (pause == BackOffExecution.STOP) {
                answered.completeExceptionally(StoreCalls.unwrap(failure));
                return answered;
            }
            unlessRefused(
                    answered,
                    () -> timer.after(
                            Duration.ofMillis(pause),
                            () -> unlessRefused(
                                    answered, () -> thread.execute(() -> ask(call, answer, pauses, answered)))));
            return answered;
        });
    }

    /** Where the system has no thread for a repetition, there is none: what is never answered would be under way for ever. */
    private static void unlessRefused(CompletableFuture<?> answered, Runnable repetition) {
        try {
            repetition.run();
        } catch (Throwable refused) {
            answered.completeExceptionally(refused);
        }
    }

    private static <A> CompletableFuture<A> begun(Supplier<CompletableFuture<A>> call) {
        try {
            return call.get();
        } catch (Throwable failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }
}
