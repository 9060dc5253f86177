package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.ClaimWriter;
import io.exactlyonce.delivery.OutcomePolicy;
import java.util.ArrayList;
import java.util.List;

/**
 * Claims keys once more for deliveries that have waited for them, where only a claim can tell how their waits end: a look
 * compares no payloads. A claim that is acquired is released at once, since only a delivery that is received is handled.
 */
final class WaitingClaimCheck {

    private final ClaimWriter keeper;
    private final OutcomePolicy refusals;
    private final WaitingDeliveries deliveries;

    WaitingClaimCheck(ClaimWriter keeper, ClaimSettings terms, WaitingDeliveries deliveries) {
        this.keeper = keeper;
        this.refusals = new OutcomePolicy(terms);
        this.deliveries = deliveries;
    }

    /**
     * Claims the keys in one call, and ends the waits as it is answered.
     *
     * @throws RuntimeException if the store does not answer; all deliveries wait on
     */
    void ask(List<WaitingDelivery> asking) {
        if (asking.isEmpty()) {
            return;
        }
        List<ClaimRequest> requests =
                asking.stream().map(WaitingDelivery::newRequest).toList();
        List<ClaimOutcome> outcomes = ClaimWriter.await(keeper.claim(requests, () -> false));
        giveBack(requests, outcomes);
        for (int index = 0; index < asking.size(); index++) {
            end(asking.get(index), outcomes.get(index));
        }
    }

    private void giveBack(List<ClaimRequest> requests, List<ClaimOutcome> outcomes) {
        List<ClaimEnd.Released> acquired = new ArrayList<>();
        for (int index = 0; index < requests.size(); index++) {
            if (outcomes.get(index) instanceof Acquired claim) {
                acquired.add(new ClaimEnd.Released(
                        requests.get(index).id(), "the message is to be received first", claim.ambiguous()));
            }
        }
        ClaimWriter.await(keeper.release(acquired));
    }

    private void end(WaitingDelivery waiting, ClaimOutcome outcome) {
        if (outcome instanceof Acquired) {
            deliveries.end(waiting, KeyState.FREE);
        } else if (outcome instanceof Parked) {
            deliveries.end(waiting, KeyState.PARKED);
        } else if (!(outcome instanceof HeldElsewhere)) {
            deliveries.end(waiting, outcome, refusals);
        }
    }
}
