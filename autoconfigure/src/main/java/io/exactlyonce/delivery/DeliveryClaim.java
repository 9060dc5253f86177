package io.exactlyonce.delivery;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.visibility.Renewal;

/** The claim that a handler sees. */
final class DeliveryClaim implements Claim {

    private final ClaimKey key;
    private final Acquired acquired;
    private final Renewal renewal;

    DeliveryClaim(ClaimKey key, Acquired acquired, Renewal renewal) {
        this.key = key;
        this.acquired = acquired;
        this.renewal = renewal;
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
        if (!renewal.isHeld()) {
            throw lost("its lease is over, or the handler has ended");
        }
    }

    ClaimLostException lost(String reason) {
        return new ClaimLostException(key.scope(), key.hash(), acquired.fencingToken(), reason);
    }
}
