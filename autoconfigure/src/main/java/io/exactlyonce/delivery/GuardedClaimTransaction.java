package io.exactlyonce.delivery;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.ClaimsUnansweredException;
import java.util.concurrent.atomic.AtomicBoolean;

/** A transaction whose claims tell a gate whether the database answers. */
final class GuardedClaimTransaction implements ClaimTransaction {

    private final ClaimTransaction transaction;
    private final StoreGate gate;

    GuardedClaimTransaction(ClaimTransaction transaction, StoreGate gate) {
        this.transaction = transaction;
        this.gate = gate;
    }

    @Override
    public ClaimOutcome execute(ClaimRequest request, Work work) throws Throwable {
        AtomicBoolean answered = new AtomicBoolean();
        try {
            ClaimOutcome outcome = transaction.execute(request, claim -> {
                answered.set(true);
                gate.answered();
                return work.run(claim);
            });
            gate.answered();
            return outcome;
        } catch (ClaimsUnansweredException unanswered) {
            if (!answered.get()) {
                gate.unanswered(unanswered);
            }
            throw unanswered;
        }
    }
}
