package io.exactlyonce.delivery;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import java.util.function.BooleanSupplier;

/**
 * The claim that is passed to a handler or an action.
 *
 * @param acquired the store's answer (attempt, fencing token, and whether the key is in doubt)
 * @param held returns whether the claim is still valid, by this JVM's clock
 * @param fencing implements {@link #fence}; returns false if the claim is lost
 */
public record HeldClaim(ClaimId id, Acquired acquired, BooleanSupplier held, BooleanSupplier fencing) implements Claim {

    @Override
    public String scope() {
        return id.key().scope();
    }

    @Override
    public String key() {
        return id.key().key();
    }

    @Override
    public String keyHash() {
        return id.key().keyHash();
    }

    @Override
    public int attempt() {
        return acquired.attempt();
    }

    @Override
    public boolean isInDoubt() {
        return acquired.inDoubt();
    }

    @Override
    public long fencingToken() {
        return acquired.fencingToken();
    }

    @Override
    public String downstreamKey() {
        return id.key().downstreamKey();
    }

    @Override
    public String downstreamKey(String call) {
        return id.key().downstreamKey(call);
    }

    @Override
    public void ensureHeld() {
        if (!held.getAsBoolean()) {
            throw lost("its lease has expired, its listener has stopped, or its handler has ended");
        }
    }

    /** Ties the caller's transaction to the claim. The database checks that no other worker has taken the key over. */
    @Override
    public void fence() {
        if (!fencing.getAsBoolean()) {
            throw lost("it no longer holds its key, or this transaction cannot see that it does");
        }
    }

    public ClaimLostException lost(String reason) {
        return new ClaimLostException(id.key().scope(), id.key().keyHash(), acquired.fencingToken(), reason);
    }
}
