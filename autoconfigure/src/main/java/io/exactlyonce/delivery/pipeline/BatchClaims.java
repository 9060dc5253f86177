package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.BatchKeeper;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.delivery.Disposition;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.time.NanoClock;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims the keys of a batch in one call of the store, and decides on the deliveries that acquire nothing. */
final class BatchClaims {

    private static final Logger log = LoggerFactory.getLogger(BatchClaims.class);

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
        LastReceive last =
                new LastReceive(members.stream().map(BatchMember::delivery).toList(), clock);
        List<ClaimRequest> requests;
        long begun;
        List<ClaimOutcome> outcomes;
        do {
            requests = members.stream().map(member -> member.ask(terms)).toList();
            begun = clock.nanoTime();
            outcomes = outcomes(members, requests, last, begun);
        } while (outcomes == null && last.goesOn());
        if (outcomes == null) {
            waitForStore(members, requests);
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
    private @Nullable List<ClaimOutcome> outcomes(
            List<BatchMember> members, List<ClaimRequest> requests, LastReceive last, long begun) {
        try {
            return last.isAtStake()
                    ? keeper.claim(requests, last.within(requests.get(0).lease(), begun))
                    : keeper.claim(requests);
        } catch (IllegalArgumentException hopeless) {
            throw hopeless;
        } catch (RuntimeException unanswered) {
            for (int index = 0; index < requests.size(); index++) {
                ClaimRequest request = requests.get(index);
                log.warn(
                        "{} waits: the claim of {} got no answer",
                        members.get(index).delivery(),
                        request.key());
                log.debug("Why the claim of {} got no answer", request.key(), unanswered);
            }
            return null;
        }
    }

    private static void waitForStore(List<BatchMember> members, List<ClaimRequest> requests) {
        for (int index = 0; index < requests.size(); index++) {
            members.get(index).delivery().decide(Disposition.waitForStore(requests.get(index)));
        }
    }

    private void answer(BatchMember member, ClaimRequest request, ClaimOutcome outcome, long begun) {
        Acquired acquired = refusals.decide(member.delivery(), request, outcome);
        if (acquired != null) {
            member.acquire(acquired, begun, keeper::fence);
        }
    }
}
