package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.BatchKeeper;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.OutcomePolicy;
import java.util.List;
import java.util.Objects;
import io.exactlyonce.time.NanoClock;
import org.jspecify.annotations.Nullable;

/** Claims the keys of a batch in one call of the store, and decides on the deliveries that acquire nothing. */
final class BatchClaims {

    private final BatchKeeper keeper;
    private final ClaimSettings terms;
    private final OutcomePolicy refusals;
    private final DeliveryObserver observer;
    private final NanoClock clock;

    BatchClaims(
            BatchKeeper keeper,
            ClaimSettings terms,
            OutcomePolicy refusals,
            DeliveryObserver observer,
            NanoClock clock) {
        this.keeper = keeper;
        this.terms = terms;
        this.refusals = refusals;
        this.observer = observer;
        this.clock = clock;
    }

    void claim(List<BatchMember> members) {
        if (members.isEmpty()) {
            return;
        }
        List<ClaimRequest> requests =
                members.stream().map(member -> member.ask(terms)).toList();
        long begun = clock.nanoTime();
        List<ClaimOutcome> outcomes = outcomes(members, requests);
        if (outcomes == null) {
            return;
        }
        for (int index = 0; index < requests.size(); index++) {
            answer(members.get(index), requests.get(index), outcomes.get(index), begun);
        }
        tell(members, outcomes);
    }

    /** The claims are held by now, and let go whatever is thrown here. */
    private void tell(List<BatchMember> members, List<ClaimOutcome> outcomes) {
        try {
            for (int index = 0; index < outcomes.size(); index++) {
                observer.claimed(members.get(index).delivery().subscription(), outcomes.get(index));
            }
        } catch (Throwable failure) {
            keeper.release(members.stream()
                    .filter(BatchMember::isAcquired)
                    .map(member -> member.giveBack(FailedAttempt.NOT_CALLED))
                    .toList());
            throw failure;
        }
    }

    /** Returns nothing if the store did not answer. */
    private @Nullable List<ClaimOutcome> outcomes(List<BatchMember> members, List<ClaimRequest> requests) {
        try {
            return keeper.claim(requests);
        } catch (IllegalArgumentException hopeless) {
            throw hopeless;
        } catch (RuntimeException unanswered) {
            for (int index = 0; index < requests.size(); index++) {
                Delivery delivery = members.get(index).delivery();
                delivery.decide(OutcomePolicy.unanswered(delivery, requests.get(index), unanswered));
            }
            return null;
        }
    }

    private void answer(BatchMember member, ClaimRequest request, ClaimOutcome outcome, long begun) {
        Delivery delivery = member.delivery();
        delivery.decide(refusals.decide(delivery, request, outcome, Objects.requireNonNull(delivery.disposition())));
        if (outcome instanceof Acquired acquired) {
            member.acquire(acquired, begun, keeper::fence);
        }
    }
}
