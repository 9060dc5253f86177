package io.exactlyonce.delivery;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import java.util.function.BooleanSupplier;

/**
 * The claim that a handler or an action sees.
 *
 * @param acquired how it was acquired
 * @param held whether it is held by its lease or transaction, by this JVM's clock
 * @param fencing ties the caller's own transaction to it, and returns whether it is held
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

    /** Asks only the database, which decides whether another worker has taken the key over, not this JVM's clock. */
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
