package io.exactlyonce.delivery;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.time.Timer;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Claims, completes, releases and parks keys, each with the patience that it deserves: a claim that gets no answer can be
 * given up, for nothing has happened yet; a completion cannot, for the effect has. Takes lists; a single key is a list of
 * one. No thread waits for an answer unless its caller does, by {@link #await}.
 */
public final class ClaimWriter {

    private static final Logger log = LoggerFactory.getLogger(ClaimWriter.class);

    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 2_000;
    private static final int FEW = 2;

    private static final BackOff ENDLESS_PAUSES = endless();
    private static final BackOff FEW_PAUSES = few();

    private final ClaimStore store;
    private final AsyncClaimStore async;
    private final StoreCalls calls;

    /**
     * @param store what keeps the claims
     * @param async the same store, asked without a thread that waits
     * @param timer for what has to be repeated
     */
    public ClaimWriter(ClaimStore store, AsyncClaimStore async, Timer timer) {
        this.store = store;
        this.async = async;
        this.calls = new StoreCalls(timer);
    }

    /**
     * Claims keys. A lost reply does no harm: the requests are repeated with the same claim ids, and find their own claims.
     * When there is no answer at all, the claims that may stand nevertheless are given up, so that the next attempt neither
     * waits for their leases nor takes them for a crash. Of a call that never reached the store none can stand.
     *
     * @param requests at least one
     * @return fails if the store did not answer
     */
    public CompletableFuture<List<ClaimOutcome>> claim(List<ClaimRequest> requests) {
        return claim(requests, FEW_PAUSES, () -> true);
    }

    /** Does the same, and tries for as long as it is wanted. */
    public CompletableFuture<List<ClaimOutcome>> claim(List<ClaimRequest> requests, BooleanSupplier wanted) {
        return claim(requests, ENDLESS_PAUSES, wanted);
    }

    /** Does the same, on a thread that waits. An interrupt ends the repeats. */
    public List<ClaimOutcome> awaitClaim(List<ClaimRequest> requests) {
        AtomicBoolean wanted = new AtomicBoolean(true);
        CompletableFuture<List<ClaimOutcome>> claimed = claim(requests, FEW_PAUSES, wanted::get);
        if (!isAnswered(claimed)) {
            wanted.set(false);
        }
        return await(claimed);
    }

    private CompletableFuture<List<ClaimOutcome>> claim(
            List<ClaimRequest> requests, BackOff pauses, BooleanSupplier wanted) {
        return calls.untilAnswered(
                        "Claiming", keys(requests, ClaimRequest::key), pauses, wanted, () -> async.claimAsync(requests))
                .exceptionallyCompose(unanswered -> StoreCalls.unwrap(unanswered) instanceof ClaimStoreBusyException
                        ? CompletableFuture.failedFuture(unanswered)
                        : async.endAsync(unclaimed(requests)).handle((released, failure) -> {
                            throw new CompletionException(StoreCalls.unwrap(unanswered));
                        }));
    }

    /** Completes after a pause. */
    public CompletableFuture<Void> pause(Duration length) {
        return calls.pause(length);
    }

    /** Pauses on the caller's thread; returns whether the time has passed, and no interrupt has come. */
    public boolean awaitPause(Duration length) {
        return isAnswered(pause(length));
    }

    /** What may have been claimed although the answer was lost. */
    private static List<ClaimEnd.Released> unclaimed(List<ClaimRequest> requests) {
        return requests.stream()
                .map(request -> new ClaimEnd.Released(request.id(), "the claim got no answer", false))
                .toList();
    }

    /**
     * Completes claims, and tries for as long as it is wanted.
     *
     * @param completions at least one
     * @return the claims whose completion is recorded; the rest were lost. Fails if the store did not answer as long as it was
     *     wanted
     */
    public CompletableFuture<Set<ClaimId>> complete(List<ClaimEnd.Completed> completions, BooleanSupplier wanted) {
        return record(completions, wanted)
                .exceptionallyCompose(
                        failure -> StoreCalls.unwrap(failure) instanceof IllegalArgumentException unstorable
                                ? completeWithoutResults(completions, wanted, unstorable)
                                : CompletableFuture.failedFuture(failure));
    }

    private CompletableFuture<Set<ClaimId>> completeWithoutResults(
            List<ClaimEnd.Completed> completions, BooleanSupplier wanted, IllegalArgumentException unstorable) {
        log.warn("The result for {} cannot be stored; completing without it", keys(completions), unstorable);
        return record(
                completions.stream()
                        .map(completion -> new ClaimEnd.Completed(completion.claim(), null))
                        .toList(),
                wanted);
    }

    private CompletableFuture<Set<ClaimId>> record(List<ClaimEnd.Completed> completions, BooleanSupplier wanted) {
        return end("Completing", completions, ENDLESS_PAUSES, wanted);
    }

    /**
     * Releases claims; if the store does not answer, the ends of their leases do it.
     *
     * @return ends when the store has answered, or was asked for the last time; never fails
     */
    public CompletableFuture<Void> release(List<ClaimEnd.Released> releases) {
        if (releases.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        return end("Releasing", releases, FEW_PAUSES, () -> true).handle((released, failure) -> {
            if (failure != null) {
                log.warn(
                        "Releasing {} failed; it can be claimed again when its lease ends: {}",
                        keys(releases),
                        StoreCalls.why(failure));
            }
            return null;
        });
    }

    /**
     * Parks claims; if the store does not answer, their leases end, and the keys are in doubt.
     *
     * @return ends when the store has answered, or was asked for the last time, with the claims that are parked; never fails
     */
    public CompletableFuture<Set<ClaimId>> park(List<ClaimEnd.Parked> parkings) {
        if (parkings.isEmpty()) {
            return CompletableFuture.completedFuture(Set.of());
        }
        return end("Parking", parkings, FEW_PAUSES, () -> true).handle((parked, failure) -> {
            if (failure != null) {
                log.error(
                        "Parking {} failed; it is in doubt when its lease ends: {}",
                        keys(parkings),
                        StoreCalls.why(failure));
                return Set.of();
            }
            for (ClaimEnd.Parked parking : parkings) {
                if (!parked.contains(parking.claim())) {
                    log.warn(
                            "{} is not parked: another worker took the key over",
                            parking.claim().key());
                }
            }
            return parked;
        });
    }

    private CompletableFuture<Set<ClaimId>> end(
            String what, List<? extends ClaimEnd> ends, BackOff pauses, BooleanSupplier wanted) {
        return calls.untilAnswered(what, keys(ends), pauses, wanted, () -> async.endAsync(ends));
    }

    /**
     * Waits for an end on the caller's thread, despite interrupts.
     *
     * @throws RuntimeException what it failed with
     */
    public static <T> T await(CompletableFuture<T> end) {
        try {
            return end.join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof Error error) {
                throw error;
            }
            throw failed.getCause() instanceof RuntimeException failure ? failure : failed;
        }
    }

    /** Waits until an answer is there, or its absence is certain; returns whether no interrupt came before. */
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

    private static Object keys(List<? extends ClaimEnd> ends) {
        return keys(ends, end -> end.claim().key());
    }

    /** Names keys for a log: the only one, or how many there are and which is first. Hashes them only when that is logged. */
    private static <T> Object keys(List<T> entries, Function<T, ClaimKey> key) {
        return new Object() {
            @Override
            public String toString() {
                String first = key.apply(entries.get(0)).toString();
                return entries.size() == 1 ? first : "%d keys, %s first,".formatted(entries.size(), first);
            }
        };
    }

    /** Returns how keys stand, as {@link ClaimStore#look} does. */
    public Map<ClaimKey, KeyState> look(Collection<ClaimKey> keys) {
        return store.look(keys);
    }

    /** Ties the caller's own transaction to a claim. It is tried once, for a failure is the end of that transaction. */
    public boolean fence(ClaimId claim) {
        return store.fence(claim);
    }

    /** Returns pauses that become longer, up to a bound, without an end. */
    public static BackOffExecution endlessPauses() {
        return ENDLESS_PAUSES.start();
    }

    private static BackOff few() {
        ExponentialBackOff pauses = endless();
        pauses.setMaxAttempts(FEW);
        return pauses;
    }

    private static ExponentialBackOff endless() {
        ExponentialBackOff pauses = new ExponentialBackOff(FIRST_PAUSE_MILLIS, 2);
        pauses.setMaxInterval(LONGEST_PAUSE_MILLIS);
        pauses.setJitter(FIRST_PAUSE_MILLIS / 2);
        return pauses;
    }
}
