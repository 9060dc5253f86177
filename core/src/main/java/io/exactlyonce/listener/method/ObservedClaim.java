package io.exactlyonce.listener.method;

import io.exactlyonce.Claim;
import io.exactlyonce.claim.ClaimKey;
import java.util.function.Supplier;

/**
 * The claim of a handler in observe mode. The handler does not wait for the store, so this claim has only the message's
 * data, and no fencing token.
 *
 * @param claimed returns the key that enforcing would claim, or throws if the message has no usable one
 * @param attempt how often SQS has delivered the message
 */
record ObservedClaim(Supplier<ClaimKey> claimed, int attempt) implements Claim {

    @Override
    public String scope() {
        return claimed.get().scope();
    }

    @Override
    public String key() {
        return claimed.get().key();
    }

    @Override
    public String keyHash() {
        return claimed.get().keyHash();
    }

    @Override
    public boolean isInDoubt() {
        return false;
    }

    @Override
    public long fencingToken() {
        throw none("fencing token");
    }

    @Override
    public String downstreamKey() {
        return claimed.get().downstreamKey();
    }

    @Override
    public String downstreamKey(String call) {
        return claimed.get().downstreamKey(call);
    }

    @Override
    public void ensureHeld() {}

    @Override
    public void fence() {
        throw none("claim to tie a transaction to");
    }

    private static IllegalStateException none(String what) {
        return new IllegalStateException(
                "There is no %s for this message: its listener's mode is 'observe', which holds no key while the handler runs; set mode = ClaimMode.ENFORCE for this listener, or leave the call out while it is observed"
                        .formatted(what));
    }
}
