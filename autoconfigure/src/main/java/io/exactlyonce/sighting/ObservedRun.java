package io.exactlyonce.sighting;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import java.nio.channels.ClosedByInterruptException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A handler's run, and the claim beside it: asked for when the handler begins, ended when the handler has ended and the claim is
 * answered. All but the beginning and the end of the handler happens on the observers' thread.
 */
final class ObservedRun implements Observation {

    /** Bounds the causes, since they may form a circle. */
    private static final int MOST_CAUSES = 20;

    private enum Claimed {
        HELD,
        /** There was no answer; the claim may stand nevertheless. */
        UNKNOWN,
        NOT_HELD
    }

    private record Ended(Claimed claimed, Optional<Throwable> failure) {}

    private final ObservedQueue queue;
    private final ClaimKey key;
    private final ObservedStore store;
    private final KeyRuns runs;
    private final ObservedClaims claims;
    private final CompletableFuture<Optional<Throwable>> handled = new CompletableFuture<>();
    private final CompletableFuture<Void> recorded = new CompletableFuture<>();
    private final AtomicBoolean hasEnded = new AtomicBoolean();
    private volatile boolean takenOverHere;

    ObservedRun(ObservedQueue queue, ClaimKey key, ObservedStore store, KeyRuns runs, ObservedClaims claims) {
        this.queue = queue;
        this.key = key;
        this.store = store;
        this.runs = runs;
        this.claims = claims;
    }

    ClaimKey key() {
        return key;
    }

    /** Returns what ends, never with a failure, when how the handler ended is on record, or never will be. */
    CompletableFuture<Void> recorded() {
        return recorded;
    }

    /** Another run of this instance has acquired the key, and is counted for it. */
    void takenOverHere() {
        takenOverHere = true;
    }

    /**
     * Begins. Neither throws nor waits.
     *
     * @param message not kept: its body, of up to 1 MiB, must not wait in memory with its claim
     */
    void begin(ObservedMessage message) {
        KeyRuns.Met met = runs.begin(this);
        var unused = met.earlier()
                .thenComposeAsync(recorded -> observe(message, met.isRunning()), store.thread())
                .whenComplete((done, failure) -> {
                    if (failure != null) {
                        claims.notObserved(queue, Unobserved.STORE, failure);
                    }
                    runs.forget(this);
                    recorded.complete(null);
                });
    }

    private CompletableFuture<?> observe(ObservedMessage message, boolean overlaps) {
        ClaimRequest request = store.request(message);
        return store.claim(request)
                .handleAsync((outcomes, failure) -> tell(outcomes, failure, overlaps), store.thread())
                .thenCombine(handled, Ended::new)
                .thenComposeAsync(ended -> end(request.id(), ended), store.thread());
    }

    private Claimed tell(@Nullable List<ClaimOutcome> outcomes, @Nullable Throwable failure, boolean overlaps) {
        if (outcomes == null) {
            if (overlaps) {
                claims.sighted(queue, key(), Sighting.OVERLAP);
            } else {
                claims.notObserved(queue, Unobserved.STORE, failure);
            }
            return Claimed.UNKNOWN;
        }
        ClaimOutcome outcome = outcomes.get(0);
        claims.sighted(queue, key(), sighting(outcome, overlaps));
        if (outcome instanceof ClaimOutcome.Acquired) {
            runs.acquired(this);
            return Claimed.HELD;
        }
        return Claimed.NOT_HELD;
    }

    /** What this instance knows of its own handlers says more than leases, which nothing renews. */
    private static Sighting sighting(ClaimOutcome outcome, boolean overlaps) {
        return outcome.match(
                acquired -> overlaps ? Sighting.OVERLAP : acquired.ambiguous() ? Sighting.TAKEOVER : Sighting.ALONE,
                completed -> overlaps ? Sighting.OVERLAP : Sighting.DUPLICATE,
                mismatch -> Sighting.MISMATCH,
                held -> Sighting.OVERLAP,
                parked -> Sighting.PARKED);
    }

    @Override
    public void ended(@Nullable Throwable failure) {
        if (hasEnded.compareAndSet(false, true)) {
            runs.handled(this);
            handled.complete(Optional.ofNullable(failure));
        }
    }

    private CompletableFuture<?> end(ClaimId claim, Ended handler) {
        if (handler.claimed() == Claimed.NOT_HELD) {
            return CompletableFuture.completedFuture(null);
        }
        ClaimEnd end = handler.failure()
                .<ClaimEnd>map(thrown -> new ClaimEnd.Released(
                        claim,
                        causes(thrown)
                                .reduce(thrown, (outer, inner) -> inner)
                                .getClass()
                                .getName(),
                        wasInterrupted(thrown)))
                .orElseGet(() -> new ClaimEnd.Completed(claim, null));
        return store.end(end)
                .handleAsync(
                        (ended, unanswered) -> {
                            tellEnd(claim, handler.claimed(), ended, unanswered);
                            return true;
                        },
                        store.thread());
    }

    /** A claim that was held, and is not any more, was taken over while its handler ran. */
    private void tellEnd(ClaimId claim, Claimed claimed, @Nullable Set<ClaimId> ended, @Nullable Throwable unanswered) {
        if (ended == null) {
            claims.notObserved(queue, Unobserved.OUTCOME, unanswered);
        } else if (claimed == Claimed.HELD && !ended.contains(claim) && !takenOverHere) {
            claims.sighted(queue, key(), Sighting.OVERLAP);
        }
    }

    private static boolean wasInterrupted(Throwable thrown) {
        return causes(thrown)
                .anyMatch(
                        cause -> cause instanceof InterruptedException || cause instanceof ClosedByInterruptException);
    }

    private static Stream<Throwable> causes(Throwable thrown) {
        return Stream.iterate(thrown, Objects::nonNull, Throwable::getCause).limit(MOST_CAUSES);
    }
}
