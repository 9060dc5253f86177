package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryEvent;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.result.StoredResults;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records the outcomes of deliveries in one call of the store: completions, parkings and releases. The handler's thread
 * does not wait for the store. A delivery leaves the pipeline when the store has answered. If the store does not
 * answer, the call is repeated, and at the latest the stop of the listener ends the repetition.
 */
final class Recording {

    private static final Logger log = LoggerFactory.getLogger(Recording.class);

    private final RetryingClaimClient claims;
    private final OutcomePolicy policy;
    private final StoredResults results;
    private final DeliveryObserver observer;

    Recording(RetryingClaimClient claims, OutcomePolicy policy, StoredResults results, DeliveryObserver observer) {
        this.claims = claims;
        this.policy = policy;
        this.results = results;
        this.observer = observer;
    }

    ClaimResolution completion(Delivery delivery, @Nullable Object result) {
        return new ClaimResolution.Completed(delivery.attempt().id(), json(delivery, result));
    }

    /**
     * Returns the result as JSON. Returns {@code null} if there is none, or if it cannot be written. The effect has
     * happened, so the claim is completed even without a result.
     */
    @Nullable String json(Delivery delivery, @Nullable Object result) {
        return result == null || !delivery.attempt().keepsResult()
                ? null
                : results.writeIfPossible(delivery.attempt().key(), result);
    }

    /**
     * Records the outcomes of deliveries in one call. A completion is sent even if its lease seems to have expired. The
     * store accepts a late completion if no other worker has taken the key over.
     */
    void record(List<Delivery> deliveries) {
        List<Delivery> ended = new ArrayList<>(deliveries.size());
        List<ClaimResolution> resolutions = new ArrayList<>(deliveries.size());
        for (Delivery delivery : deliveries) {
            ClaimResolution resolution = delivery.attempt().takeResolution();
            if (resolution != null) {
                ended.add(delivery);
                resolutions.add(resolution);
            } else {
                endProcessing(delivery);
            }
        }
        if (resolutions.isEmpty()) {
            return;
        }
        // Completions on a standard queue may be delayed, to share a transaction with others. All other outcomes are
        // sent at once. On a FIFO queue, the next message of the group waits for the store's answer.
        boolean isAwaited = ended.get(0).subscription().isFifo()
                || !resolutions.stream().allMatch(ClaimResolution.Completed.class::isInstance);
        Boundary.whenComplete(
                "The record of outcomes",
                claims.resolve(
                        resolutions, isAwaited, (failures, failure) -> isRecordWanted(ended, resolutions, failures)),
                (recorded, failure) -> {
                    for (int index = 0; index < ended.size(); index++) {
                        recorded(ended.get(index), resolutions.get(index), recorded, failure);
                    }
                },
                crash -> ended.forEach(Delivery::endProcessing));
    }

    private static boolean isRecordWanted(List<Delivery> ended, List<ClaimResolution> resolutions, int failures) {
        for (int index = 0; index < ended.size(); index++) {
            if (isRecordWanted(ended.get(index), resolutions.get(index), failures)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether to repeat the call. A completion is repeated until a stopping listener abandons the delivery. A
     * release or parking is repeated a few times in any case, and later only while the message is invisible and the
     * delivery is not abandoned.
     */
    private static boolean isRecordWanted(Delivery delivery, ClaimResolution resolution, int failures) {
        return resolution instanceof ClaimResolution.Completed
                ? !delivery.isAbandoned()
                : failures < RetryingClaimClient.FEW
                        || (!delivery.isAbandoned() && delivery.visibility().isInvisible());
    }

    private void recorded(
            Delivery delivery,
            ClaimResolution resolution,
            @Nullable Set<ClaimId> recorded,
            @Nullable Throwable failure) {
        delivery.visibility().stopLeaseRenewal();
        boolean isRecorded = recorded != null && recorded.contains(resolution.claim());
        if (isRecorded) {
            if (resolution instanceof ClaimResolution.Completed) {
                delivery.transition(DeliveryState.HANDLED, DeliveryState.RECORDED);
            } else if (resolution instanceof ClaimResolution.Parked) {
                parked(delivery);
            }
        } else {
            logUnrecorded(delivery, resolution, recorded != null, failure);
        }
        delivery.endProcessing();
    }

    /** Decides on a message whose key was parked by this attempt, and notifies the observer. */
    void parked(Delivery delivery) {
        delivery.decide(policy.parked(delivery));
        observer.on(new DeliveryEvent.Parked(
                delivery.subscription(), delivery.attempt().key()));
    }

    private void logUnrecorded(
            Delivery delivery, ClaimResolution resolution, boolean isAnswered, @Nullable Throwable failure) {
        Object key = resolution.claim().key();
        if (resolution instanceof ClaimResolution.Completed && isAnswered) {
            log.error(
                    "{} is neither deleted nor returned: its handler has succeeded, but another worker took {} over before"
                            + " that was recorded; its result is discarded",
                    delivery,
                    key);
            observer.on(new DeliveryEvent.CompletionLost(delivery.subscription()));
        } else if (resolution instanceof ClaimResolution.Completed) {
            log.error(
                    "{} is neither deleted nor returned: its handler's success could not be recorded "
                            + "before its listener stopped, so {} is in doubt when its lease ends: {}",
                    delivery,
                    key,
                    RetryingClaimClient.why(failure));
        } else if (resolution instanceof ClaimResolution.Parked && isAnswered) {
            log.warn("{} is not parked: another worker took the key over", key);
        } else if (resolution instanceof ClaimResolution.Parked) {
            log.error(
                    "Parking {} failed; it is in doubt when its lease ends: {}", key, RetryingClaimClient.why(failure));
        } else if (!isAnswered) {
            log.warn(
                    "Releasing {} failed; it can be claimed again when its lease ends: {}",
                    key,
                    RetryingClaimClient.why(failure));
        }
    }

    /**
     * Ends the processing. If the listener's stop prevented the call of the handler, does nothing, because the stop
     * itself ends the processing.
     */
    static void endProcessing(Delivery delivery) {
        if (delivery.state() != DeliveryState.HELD_BACK) {
            delivery.endProcessing();
        }
    }
}
