package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.AsyncClaimStore.Claimed;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.FencingClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Claims keys and resolves claims. Calls without an answer are repeated. A repeated call has the same claim ids. So if
 * only the answer was lost, the store recognizes the claim and grants it again. The lease begins when the successful
 * attempt is sent. No thread waits between the attempts.
 *
 * <p>The first failure of an outage is logged with its stack trace, and each further failure in one line. The outage
 * ends when no call is being repeated.
 */
public final class RetryingClaimClient {

    private static final Logger log = LoggerFactory.getLogger(RetryingClaimClient.class);

    /** Limit of attempts for a call that is repeated only a few times. */
    static final int FEW = 3;

    private final ClaimStore store;
    private final AsyncClaimStore async;
    private final EngineScheduler scheduler;
    private final AtomicInteger repeating = new AtomicInteger();
    private final AtomicBoolean isLogged = new AtomicBoolean();

    /** Decides whether to repeat a call that got no answer. */
    @FunctionalInterface
    interface RetryCondition {

        /**
         * Returns whether to repeat the call.
         *
         * @param failures how often the call failed, from 1
         */
        boolean shouldRetry(int failures, Throwable failure);
    }

    /**
     * Makes a client.
     *
     * @param store answers on the caller's thread
     * @param async the same store, with futures as answers
     * @param scheduler delays repeated calls
     */
    public RetryingClaimClient(ClaimStore store, AsyncClaimStore async, EngineScheduler scheduler) {
        this.store = store;
        this.async = async;
        this.scheduler = scheduler;
    }

    /**
     * Claims keys.
     *
     * <p>If no attempt is answered, the store may have recorded the claims nevertheless, so they are released. The next
     * delivery then finds its key free and not in doubt. If no attempt reached the store, nothing is released.
     *
     * @param requests at least one
     */
    CompletableFuture<Claimed> claim(List<ClaimRequest> requests, RetryCondition condition) {
        return new ClaimCall(requests, condition).begin();
    }

    /**
     * Resolves claims: completes, parks or releases them. If a result cannot be stored, its claim is completed without
     * a result.
     *
     * @param resolutions at least one
     * @param isAwaited false if the store may delay the call, to share a transaction with other calls
     */
    CompletableFuture<Set<ClaimId>> resolve(
            List<ClaimResolution> resolutions, boolean isAwaited, RetryCondition condition) {
        CompletableFuture<Set<ClaimId>> recorded = new ResolutionCall(resolutions, isAwaited, condition).begin();
        if (resolutions.stream().noneMatch(RetryingClaimClient::hasResult)) {
            return recorded;
        }
        return recorded.exceptionallyCompose(failed -> {
            Throwable failure = Causes.unwrap(failed);
            if (!(failure instanceof IllegalArgumentException)) {
                return CompletableFuture.failedFuture(failure);
            }
            log.warn(
                    "The result for {} cannot be stored ({}); completing without it",
                    named(resolutions, resolution -> resolution.claim().key()),
                    why(failure));
            return resolve(withoutResults(resolutions), isAwaited, condition);
        });
    }

    /**
     * Releases the claim of a delivery whose handler was not called. The key is then free, and not in doubt. Does
     * nothing if there is no claim, or if the end of a transaction releases it.
     *
     * @return a future that completes when the release is answered or has failed. A failure is logged
     */
    CompletableFuture<Void> release(Delivery delivery) {
        delivery.visibility().stopLeaseRenewal();
        if (delivery.attempt().isTransactional() || delivery.isUnprotected()) {
            return CompletableFuture.completedFuture(null);
        }
        ClaimResolution release =
                new ClaimResolution.Released(delivery.attempt().id(), FailedAttempt.NOT_CALLED, false);
        return resolve(List.of(release), true, (failures, failure) -> failures < FEW)
                .handle((ended, failure) -> {
                    if (failure != null) {
                        log.warn(
                                "Releasing {} failed; it can be claimed again when its lease ends: {}",
                                delivery.attempt().key(),
                                why(failure));
                    }
                    return null;
                });
    }

    private static List<ClaimResolution> withoutResults(List<ClaimResolution> resolutions) {
        List<ClaimResolution> without = new ArrayList<>(resolutions.size());
        resolutions.forEach(resolution -> without.add(
                hasResult(resolution) ? new ClaimResolution.Completed(resolution.claim(), null) : resolution));
        return without;
    }

    private static boolean hasResult(ClaimResolution resolution) {
        return resolution instanceof ClaimResolution.Completed completed && completed.result() != null;
    }

    /**
     * Claims a key, and waits for the answer. A call without an answer is repeated a few times. An interrupt ends the
     * repetitions.
     */
    public ClaimOutcome awaitClaim(ClaimRequest request) {
        AtomicBoolean wanted = new AtomicBoolean(true);
        CompletableFuture<Claimed> claimed =
                claim(List.of(request), (failures, failure) -> failures < FEW && wanted.get());
        if (!isAnswered(claimed)) {
            wanted.set(false);
        }
        return await(claimed).outcomes().get(0);
    }

    /**
     * Resolves a claim, and waits for the answer. A call without an answer is repeated a few times, and after that as
     * long as {@code wanted} returns true.
     *
     * @return false if the claim was lost
     * @throws RuntimeException if the call got no answer
     */
    public boolean awaitResolution(ClaimResolution resolution, BooleanSupplier wanted) {
        return await(resolve(List.of(resolution), true, (failures, failure) -> failures < FEW || wanted.getAsBoolean()))
                .contains(resolution.claim());
    }

    /** Waits for the answer, even if the thread is interrupted. */
    private static <T> T await(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException failed) {
            throw Causes.unwrap(failed) instanceof RuntimeException failure ? failure : failed;
        }
    }

    /** Waits until the call has ended, with or without an answer. Returns false if an interrupt ends the wait. */
    private static boolean isAnswered(CompletableFuture<?> answer) {
        try {
            answer.get();
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException unanswered) {
            return true;
        }
        return true;
    }

    /** Returns pauses between attempts. The pauses grow up to two seconds, and their number has no limit. */
    static BackOffExecution pauses() {
        ExponentialBackOff pauses = new ExponentialBackOff(100, 2);
        pauses.setMaxInterval(2_000);
        pauses.setJitter(50);
        return pauses.start();
    }

    /** Waits for the next pause. Returns false if an interrupt ends it. */
    boolean pause(BackOffExecution pauses) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        scheduler.after(Duration.ofMillis(pauses.nextBackOff()), () -> over.complete(null));
        return isAnswered(over);
    }

    /** Returns the states of keys, like {@link ClaimStore#peek}. */
    Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
        return store.peek(keys);
    }

    /**
     * Ties the caller's transaction to a claim. A failed call is not repeated, because the failure ends the caller's
     * transaction.
     *
     * @return false if the claim no longer holds its key, or if the caller's transaction cannot see the claim
     * @throws UnsupportedOperationException if the store shares no transactions with applications
     */
    public boolean fence(ClaimId claim) {
        if (store instanceof FencingClaimStore fencing) {
            return fencing.fence(claim);
        }
        throw new UnsupportedOperationException(
                "Claims are kept by %s, which shares no transactions with applications, so fence() cannot work: %s"
                        .formatted(store.getClass().getSimpleName(), store.insteadOfFence()));
    }

    /** Returns why a call failed, in one line. */
    static String why(@Nullable Throwable failure) {
        return failure == null ? "" : PrintableException.reason(failure);
    }

    /** Names the keys for the log: a single key, or the first key and the number of keys. */
    private static <T> String named(List<T> entries, Function<T, ClaimKey> key) {
        ClaimKey first = key.apply(entries.get(0));
        return entries.size() == 1 ? first.toString() : "%d keys, %s first,".formatted(entries.size(), first);
    }

    /**
     * A call of the store, with its repetitions.
     *
     * @param <A> the store's answer
     * @param <T> the answer for the caller
     */
    private abstract class RepeatedCall<A, T> {

        private final RetryCondition condition;
        private final CompletableFuture<T> answer = new CompletableFuture<>();
        private @Nullable BackOffExecution pauses;
        private @Nullable Throwable failure;
        private int failures;
        private boolean isEnded;

        RepeatedCall(RetryCondition condition) {
            this.condition = condition;
        }

        /** Sends the call to the store. */
        abstract CompletableFuture<A> ask();

        /**
         * Converts the store's answer for the caller.
         *
         * @throws ClaimStoreUnavailableException if the answer is incomplete. The call is then repeated
         */
        abstract T read(A given);

        /** Called before the call fails, with the reason. */
        abstract void givenUp(Throwable reason);

        /** Returns the name of the call, for a log. */
        abstract String what();

        abstract String keys();

        CompletableFuture<T> begin() {
            attempt();
            return answer;
        }

        private void attempt() {
            Boundary.whenComplete("A call of the claim store", ask(), this::answered, this::giveUp);
        }

        private void answered(@Nullable A given, @Nullable Throwable failed) {
            if (given == null) {
                failed(Objects.requireNonNull(failed));
                return;
            }
            T read;
            try {
                read = read(given);
            } catch (ClaimStoreUnavailableException incomplete) {
                failed(incomplete);
                return;
            }
            end();
            answer.complete(read);
        }

        private void failed(Throwable failed) {
            // A busy store did not receive this attempt, but may have recorded the claims of an earlier attempt. So the
            // earlier failure is kept. If only the busy store's failure were kept, the claims would not be released.
            failure = failure == null || !(failed instanceof ClaimStoreBusyException) ? failed : failure;
            failures++;
            if (failed instanceof IllegalArgumentException || !condition.shouldRetry(failures, failed)) {
                giveUp(failure);
                return;
            }
            if (pauses == null) {
                pauses = pauses();
                repeating.incrementAndGet();
            }
            Duration pause = Duration.ofMillis(pauses.nextBackOff());
            if (isLogged.compareAndSet(false, true)) {
                log.warn("{} {} failed; trying again", what(), keys(), PrintableException.of(failed));
            } else {
                log.warn("{} {} failed; trying again: {}", what(), keys(), why(failed));
            }
            scheduler.after(pause, () -> Boundary.guard("A call of the claim store", this::attempt, this::giveUp));
        }

        private void giveUp(Throwable reason) {
            if (end()) {
                givenUp(reason);
            }
            answer.completeExceptionally(reason);
        }

        /** Ends the call. Returns false if the call has ended before. */
        private boolean end() {
            if (isEnded) {
                return false;
            }
            isEnded = true;
            if (pauses != null && repeating.decrementAndGet() == 0) {
                isLogged.set(false);
            }
            return true;
        }
    }

    private final class ClaimCall extends RepeatedCall<Claimed, Claimed> {

        private final List<ClaimRequest> requests;

        ClaimCall(List<ClaimRequest> requests, RetryCondition condition) {
            super(condition);
            this.requests = requests;
        }

        @Override
        CompletableFuture<Claimed> ask() {
            return async.claimAsync(requests);
        }

        @Override
        Claimed read(Claimed given) {
            return given;
        }

        /**
         * Releases the claims, because the store may have recorded them. If the store was busy at each attempt, no
         * claim reached it, and nothing is released.
         */
        @Override
        void givenUp(Throwable reason) {
            if (reason instanceof ClaimStoreBusyException) {
                return;
            }
            List<ClaimResolution> unanswered = new ArrayList<>(requests.size());
            requests.forEach(request ->
                    unanswered.add(new ClaimResolution.Released(request.id(), "the claim got no answer", false)));
            Boundary.whenComplete(
                    "The release of claims without an answer",
                    async.resolveAsync(unanswered, true),
                    (released, none) -> log.debug("Released claims without an answer: {}", released),
                    crash -> {});
        }

        @Override
        String what() {
            return "Claiming";
        }

        @Override
        String keys() {
            return named(requests, ClaimRequest::key);
        }
    }

    private final class ResolutionCall extends RepeatedCall<ClaimAnswers, Set<ClaimId>> {

        private final List<ClaimResolution> resolutions;
        private final boolean isAwaited;

        ResolutionCall(List<ClaimResolution> resolutions, boolean isAwaited, RetryCondition condition) {
            super(condition);
            this.resolutions = resolutions;
            this.isAwaited = isAwaited;
        }

        @Override
        CompletableFuture<ClaimAnswers> ask() {
            return async.resolveAsync(resolutions, isAwaited);
        }

        @Override
        Set<ClaimId> read(ClaimAnswers given) {
            return given.requireAll();
        }

        @Override
        void givenUp(Throwable reason) {}

        @Override
        String what() {
            return "Recording the outcome of";
        }

        @Override
        String keys() {
            return named(resolutions, resolution -> resolution.claim().key());
        }
    }
}
