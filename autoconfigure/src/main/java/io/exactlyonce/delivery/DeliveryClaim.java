package io.exactlyonce.delivery;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import java.util.function.BooleanSupplier;

/** The claim that a handler or an action sees. */
final class DeliveryClaim implements Claim {

    private final ClaimKey key;
    private final Acquired acquired;
    private final BooleanSupplier held;

    DeliveryClaim(ClaimKey key, Acquired acquired, BooleanSupplier held) {
        this.key = key;
        this.acquired = acquired;
        this.held = held;
    }

    @Override
    public String key() {
        return key.key();
    }

    @Override
    public int attempt() {
        return acquired.attempt();
    }

    @Override
    public boolean isAmbiguous() {
        return acquired.ambiguous();
    }

    @Override
    public long fencingToken() {
        return acquired.fencingToken();
    }

    @Override
    public String downstreamKey() {
        return key.hash();
    }

    @Override
    public void ensureHeld() {
        if (!held.getAsBoolean()) {
            throw lost("its lease is over, or the handler has ended");
        }
    }

    ClaimLostException lost(String reason) {
        return new ClaimLostException(key.scope(), key.hash(), acquired.fencingToken(), reason);
    }
}
