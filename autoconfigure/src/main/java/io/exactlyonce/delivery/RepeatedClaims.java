package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimState;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.Release;
import java.util.ArrayList;
import java.util.List;

/**
 * Claims keys once more for deliveries that have waited for them, where only a claim can tell how their waits end: a look
 * compares no payloads. What is acquired is given back at once, since only a delivery that is received is handled.
 */
final class RepeatedClaims {

    private final ClaimStore store;
    private final BatchKeeper keeper;
    private final Refusals refusals;
    private final Waiters waiters;

    RepeatedClaims(ClaimStore store, ClaimTerms terms, Waiters waiters) {
        this.store = store;
        this.keeper = new BatchKeeper(store);
        this.refusals = new Refusals(terms);
        this.waiters = waiters;
    }

    /**
     * Claims the keys in one call, and ends the waits as it is answered.
     *
     * @throws RuntimeException if the store does not answer; all wait on
     */
    void ask(List<Waiter> asking) {
        if (asking.isEmpty()) {
            return;
        }
        List<ClaimRequest> requests = asking.stream().map(Waiter::newRequest).toList();
        List<ClaimOutcome> outcomes = claim(requests);
        giveBack(requests, outcomes);
        for (int index = 0; index < asking.size(); index++) {
            end(asking.get(index), outcomes.get(index));
        }
    }

    private List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        try {
            return store.claim(requests);
        } catch (RuntimeException unanswered) {
            keeper.giveUp(requests, unanswered);
            throw unanswered;
        }
    }

    private void giveBack(List<ClaimRequest> requests, List<ClaimOutcome> outcomes) {
        List<Release> acquired = new ArrayList<>();
        for (int index = 0; index < requests.size(); index++) {
            if (outcomes.get(index) instanceof Acquired claim) {
                acquired.add(new Release(
                        requests.get(index).id(), "the message is to be received first", claim.ambiguous()));
            }
        }
        keeper.release(acquired);
    }

    private void end(Waiter waiter, ClaimOutcome outcome) {
        if (outcome instanceof Acquired) {
            waiters.end(waiter, ClaimState.FREE);
        } else if (outcome instanceof Parked) {
            waiters.end(waiter, ClaimState.PARKED);
        } else if (!(outcome instanceof HeldElsewhere)) {
            waiters.end(waiter, outcome, refusals);
        }
    }
}
