package io.exactlyonce.delivery.waiting;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimTransaction;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A transaction whose claims tell its transaction manager's gate whether they are answered. */
public final class GuardedClaimTransaction implements ClaimTransaction {

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
                return run(claim, work);
            });
            gate.answered();
            return outcome;
        } catch (ClaimStoreUnavailableException unanswered) {
            if (!answered.get()) {
                gate.unanswered(unanswered);
            }
            throw unanswered;
        }
    }

    private @Nullable String run(Acquired claim, Work work) throws Throwable {
        gate.workBegins();
        try {
            return work.run(claim);
        } finally {
            gate.workEnds();
        }
    }

    /** Returns the gate of its transaction manager, which others of the same manager share. */
    public StoreGate gate() {
        return gate;
    }

    @Override
    public String toString() {
        return gate.toString();
    }
}
