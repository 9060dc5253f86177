package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What one key's history allows to happen next. Learns from a store's answers, and fails on one that breaks a rule. Knows
 * time only as far as the interleaving lets it pass: the store's own clock runs on meanwhile, by less than {@link #DRIFT}.
 */
final class Invariants {

    /** Leases never end nearer to a moment at which something happens. */
    static final Duration DRIFT = Duration.ofSeconds(9);

    private enum State {
        NEVER_CLAIMED,
        HELD,
        RELEASED,
        COMPLETED,
        PARKED
    }

    private State state = State.NEVER_CLAIMED;
    private @Nullable UUID claim;
    private @Nullable String fingerprint;
    private @Nullable String result;
    private Duration leaseEnd = Duration.ZERO;
    private int attempts;
    private long token;
    private boolean ambiguous;

    void claimed(ClaimRequest request, ClaimOutcome outcome, Duration now) {
        outcome.match(
                acquired -> isHeldBy(request.claimId())
                        ? heldAgain(request, acquired, now)
                        : acquired(request, acquired, now),
                completed -> completed(request, completed.result(), false),
                mismatch -> completed(request, mismatch.result(), true),
                held -> heldElsewhere(request, held, now),
                parked -> parked(request, now));
    }

    void renewed(UUID by, boolean told, Duration end) {
        require(told == isHeldBy(by), "a renewal counts for the claim that holds the key, and for no other");
        if (told) {
            leaseEnd = end;
        }
    }

    void completed(UUID by, boolean told, String json) {
        boolean again = state == State.COMPLETED && by.equals(claim);
        require(
                told == (again || isHeldBy(by)),
                "a completion counts for the claim that holds the key, and for no other");
        if (told && !again) {
            state = State.COMPLETED;
            result = json;
        }
    }

    void released(UUID by, boolean told, boolean inDoubt) {
        require(told == isHeldBy(by), "a release counts for the claim that holds the key, and for no other");
        if (told) {
            state = State.RELEASED;
            ambiguous |= inDoubt;
        }
    }

    void parked(UUID by, boolean told) {
        require(told == isHeldBy(by), "parking counts for the claim that holds the key, and for no other");
        if (told) {
            state = State.PARKED;
        }
    }

    private @Nullable Void acquired(ClaimRequest request, Acquired acquired, Duration now) {
        require(state != State.COMPLETED, "a completed key is never acquired again");
        require(state != State.PARKED, "a parked key is never acquired");
        require(isFree(now), "at most one claim holds a key at any time");
        require(
                !(isInDoubt() && request.inDoubt() == InDoubt.PARK),
                "a cautious request does not acquire what is in doubt");
        require(acquired.attempt() == attempts + 1, "attempts count up");
        require(acquired.fencingToken() > token, "fencing tokens only grow");
        require(acquired.ambiguous() == isInDoubt(), "doubt is told, and stays");
        ambiguous = isInDoubt();
        state = State.HELD;
        claim = request.claimId();
        fingerprint = request.fingerprint();
        leaseEnd = now.plus(request.lease());
        attempts = acquired.attempt();
        token = acquired.fencingToken();
        return null;
    }

    private @Nullable Void heldAgain(ClaimRequest request, Acquired acquired, Duration now) {
        require(acquired.equals(new Acquired(attempts, token, ambiguous)), "a retry finds its own claim as it was");
        leaseEnd = now.plus(request.lease());
        return null;
    }

    private @Nullable Void completed(ClaimRequest request, @Nullable String told, boolean mismatch) {
        boolean differs =
                fingerprint != null && request.fingerprint() != null && !fingerprint.equals(request.fingerprint());
        require(state == State.COMPLETED, "only a completed key is told to be one");
        require(Objects.equals(told, result), "the first result stays");
        require(mismatch == differs, "another payload is told from the same one");
        return null;
    }

    private @Nullable Void heldElsewhere(ClaimRequest request, HeldElsewhere held, Duration now) {
        require(state == State.HELD && !isFree(now), "a key is held elsewhere only while a lease lasts");
        require(!isHeldBy(request.claimId()), "a retry finds its own claim");
        Duration most = leaseEnd.minus(now);
        require(
                held.leaseRemaining().compareTo(most) <= 0
                        && held.leaseRemaining().compareTo(most.minus(DRIFT)) > 0,
                "what is left of a lease is told");
        return null;
    }

    private @Nullable Void parked(ClaimRequest request, Duration now) {
        boolean byThisRequest = isFree(now) && isInDoubt() && request.inDoubt() == InDoubt.PARK;
        require(state == State.PARKED || byThisRequest, "only what is in doubt is parked, and only on request");
        state = State.PARKED;
        return null;
    }

    private boolean isHeldBy(UUID by) {
        return state == State.HELD && by.equals(claim);
    }

    private boolean isFree(Duration now) {
        return state == State.NEVER_CLAIMED
                || state == State.RELEASED
                || (state == State.HELD && leaseEnd.compareTo(now) <= 0);
    }

    private boolean isInDoubt() {
        return ambiguous || state == State.HELD;
    }

    private void require(boolean holds, String rule) {
        if (!holds) {
            throw new AssertionError("broken: %s (the key was %s)".formatted(rule, state));
        }
    }
}
