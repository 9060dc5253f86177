package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.boundary.RedactedException;
import io.exactlyonce.claim.AsyncClaimStore.Claimed;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryObserver.ClaimScope;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.queue.RepeatedLines;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims the keys of several deliveries of one subscription, in one call of the store. A call without an answer is
 * repeated ({@link Repeats}). A delivery that does not get its key leaves the pipeline: it waits, or its message is
 * deleted or returned.
 */
final class Claiming {

    private static final Logger log = LoggerFactory.getLogger(Claiming.class);

    private static final int LONGEST_REASON = 1_000;

    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

    private final RetryingClaimClient claims;
    private final OutcomePolicy policy;
    private final DeliveryObserver observer;

    Claiming(RetryingClaimClient claims, OutcomePolicy policy, DeliveryObserver observer) {
        this.claims = claims;
        this.policy = policy;
        this.observer = observer;
    }

    /**
     * Claims the keys that are not claimed yet, in one call.
     *
     * @return a future that completes when the store has answered, or when the call is not repeated any more. Fails
     *     only if this library's own code crashes
     */
    CompletableFuture<Void> claim(List<Delivery> deliveries) {
        List<Delivery> asking = beginProcessing(deliveries);
        if (asking.isEmpty()) {
            return DONE;
        }
        List<ClaimRequest> requests = new ArrayList<>(asking.size());
        asking.forEach(delivery -> requests.add(makeRequest(delivery)));
        ClaimScope scope = observer.claiming(asking);
        Repeats repeats = new Repeats(asking);
        return claims.claim(requests, (failures, failure) -> repeats.shouldRetry(failure))
                .handle((answer, failure) -> {
                    repeats.end();
                    answered(asking, answer, failure, scope);
                    return null;
                });
    }

    /** Starts the deliveries, unless their listener has stopped. Returns those whose keys are to be claimed. */
    List<Delivery> beginProcessing(List<Delivery> deliveries) {
        List<Delivery> asking = new ArrayList<>(deliveries.size());
        for (Delivery delivery : deliveries) {
            if (delivery.attempt().begin()) {
                MissingKeyPolicy missing = delivery.attempt().takeMissingKey();
                if (missing != null) {
                    goOnWithoutKey(delivery, missing);
                } else if (delivery.attempt().isToBeClaimed()) {
                    asking.add(delivery);
                }
            }
        }
        return asking;
    }

    private void goOnWithoutKey(Delivery delivery, MissingKeyPolicy missing) {
        switch (missing) {
            case REFUSE -> {}
            case RUN_UNPROTECTED ->
                delivery.attempt().runUnprotected(policy.of(delivery).terms());
            case SKIP -> delivery.decide(new Disposition.Acknowledge());
        }
        observer.on(new DeliveryEvent.KeyMissing(delivery.subscription(), missing));
    }

    /** Throws if no delivery of the batch may begin, because the listener has stopped. */
    static void requireStarted(List<Delivery> deliveries) {
        for (Delivery delivery : deliveries) {
            if (delivery.attempt().begin()) {
                return;
            }
        }
        throw new CancellationException("%s was not started: its listener has stopped"
                .formatted(
                        deliveries.size() == 1
                                ? deliveries.get(0)
                                : "A batch of %d messages".formatted(deliveries.size())));
    }

    ClaimRequest makeRequest(Delivery delivery) {
        return delivery.attempt().makeRequest(policy.of(delivery).terms());
    }

    private void answered(
            List<Delivery> asking, @Nullable Claimed answer, @Nullable Throwable failure, ClaimScope scope) {
        if (answer == null) {
            asking.forEach(delivery -> unanswered(delivery, failure));
            scope.end(List.of(), failure);
            return;
        }
        List<ClaimOutcome> outcomes = answer.outcomes();
        asking.get(0).subscription().gate().answered();
        for (int index = 0; index < outcomes.size(); index++) {
            answered(asking.get(index), outcomes.get(index), answer.askedAt());
        }
        scope.end(outcomes, null);
        for (int index = 0; index < outcomes.size(); index++) {
            notifyClaimed(asking.get(index), outcomes.get(index));
        }
    }

    private void answered(Delivery delivery, ClaimOutcome outcome, long askedAt) {
        if (!(outcome instanceof Acquired acquired)) {
            refuse(delivery, outcome);
        } else if (!delivery.attempt().acquired(acquired, askedAt, claims::fence)) {
            // The listener stopped before the store granted the claim.
            Boundary.detach("The release of a claim", claims.release(delivery));
        }
    }

    void refuse(Delivery delivery, ClaimOutcome outcome) {
        delivery.decide(policy.decide(delivery, outcome));
    }

    void notifyClaimed(Delivery delivery, ClaimOutcome outcome) {
        observer.on(new DeliveryEvent.Claimed(
                delivery.subscription(), delivery.attempt().key(), outcome));
    }

    /**
     * Decides on a message whose claim got no answer, or whose key the store rejects. The message is made visible
     * again.
     */
    void unanswered(Delivery delivery, @Nullable Throwable why) {
        if (why instanceof IllegalArgumentException) {
            delivery.logLimited(
                    RepeatedLines.Kind.REJECTED_KEY,
                    more -> log.error(
                            "{} is returned: its key, or another key of its poll, cannot be claimed: {}{}",
                            delivery,
                            OneLine.of(String.valueOf(why.getMessage()), LONGEST_REASON),
                            more));
            log.debug("Why the key of {} cannot be claimed", delivery, RedactedException.of(why));
        } else {
            log.warn(
                    "{} is returned: the claim of {} got no answer",
                    delivery,
                    delivery.attempt().key());
        }
        delivery.decide(new Disposition.Return(policy.of(delivery).backoff().sparing(delivery)));
    }
}
