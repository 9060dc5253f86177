package io.exactlyonce.listener.method;

import io.exactlyonce.Claim;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.claim.ClaimKey;
import java.util.function.Supplier;

/**
 * A claim object for a handler that runs without a claim: in observe mode, or for a message without a key. The object
 * has only data from the message.
 *
 * @param claimed returns the message's key, or throws if the message has no usable key
 * @param attempt how often SQS has delivered the message
 * @param reason why no key is claimed, and what to do about it
 */
record UnheldClaim(Supplier<ClaimKey> claimed, int attempt, String reason) implements Claim {

    static final String OBSERVED =
            "its listener's mode is 'observe', which holds no key while the handler runs; set mode ="
                    + " ClaimMode.ENFORCE for this listener, or leave the call out while it is observed";

    static final String UNPROTECTED =
            "it has no key, and whenKeyMissing = RUN_UNPROTECTED calls the handler without a claim;"
                    + " leave the call out for such a message";

    /**
     * Returns a claim object for a message without a usable key.
     *
     * @param why thrown by methods that need the key, such as {@link #keyHash}
     */
    static UnheldClaim withoutKey(UnusableKeyException why, int attempt, String reason) {
        return new UnheldClaim(
                () -> {
                    throw why;
                },
                attempt,
                reason);
    }

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

    private IllegalStateException none(String what) {
        return new IllegalStateException("There is no %s for this message: %s".formatted(what, reason));
    }
}
