package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The state of one key, derived from the store's answers so far. */
final class KeyModel {

    enum State {
        NEVER_CLAIMED,
        HELD,
        RELEASED,
        COMPLETED,
        PARKED
    }

    State state = State.NEVER_CLAIMED;

    @Nullable UUID claim;

    @Nullable String fingerprint;

    @Nullable String result;

    Duration leaseEnd = Duration.ZERO;
    int attempts;
    long token;
    boolean inDoubt;

    /** The number of attempts that threw, since the first attempt or an operator's last release. */
    int failures;

    /** An operator has released the key, and no worker has claimed it since. */
    boolean cleared;

    boolean isHeldBy(UUID by) {
        return state == State.HELD && by.equals(claim);
    }

    boolean isParked(UUID by) {
        return state == State.PARKED && by.equals(claim);
    }

    boolean isFree(Duration now) {
        return state == State.NEVER_CLAIMED
                || state == State.RELEASED
                || (state == State.HELD && leaseEnd.compareTo(now) <= 0);
    }

    boolean isNextInDoubt() {
        return inDoubt || state == State.HELD;
    }

    boolean isParkedBy(ClaimRequest request, Duration now) {
        return isFree(now) && isNextInDoubt() && !cleared && request.inDoubt() == InDoubt.PARK;
    }

    boolean differs(ClaimRequest request) {
        return fingerprint != null && request.fingerprint() != null && !fingerprint.equals(request.fingerprint());
    }

    void require(boolean holds, String rule) {
        if (!holds) {
            throw new AssertionError("broken: %s (the key was %s)".formatted(rule, state));
        }
    }
}
