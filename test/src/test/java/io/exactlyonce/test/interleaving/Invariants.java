package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.test.interleaving.KeyModel.State;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The answers that the history of one key permits next. Each answer of a store is checked, and then becomes part of the
 * history. The interleaving's time consists of clock jumps only; the store's own clock also runs on, by less than
 * {@link #DRIFT}.
 */
final class Invariants {

    /** The shortest time between a lease's end and any step. */
    static final Duration DRIFT = Duration.ofSeconds(9);

    private final KeyModel key;

    Invariants(KeyModel key) {
        this.key = key;
    }

    void claimed(ClaimRequest request, ClaimOutcome outcome, Duration now) {
        switch (outcome.kind()) {
            case ACQUIRED -> {
                ClaimOutcome.Acquired acquired = (ClaimOutcome.Acquired) outcome;
                if (key.isHeldBy(request.claimId())) {
                    heldAgain(request, acquired, now);
                } else {
                    acquired(request, acquired, now);
                }
            }
            case ALREADY_COMPLETED -> completed(request, ((ClaimOutcome.AlreadyCompleted) outcome).result(), false);
            case MISMATCH -> completed(request, ((ClaimOutcome.Mismatch) outcome).result(), true);
            case HELD_ELSEWHERE -> heldElsewhere(request, (ClaimOutcome.HeldElsewhere) outcome, now);
            case PARKED -> parked(request, now);
        }
    }

    void renewed(UUID by, boolean told, Duration end) {
        key.require(told == key.isHeldBy(by), "a renewal counts for the claim that holds the key, and for no other");
        if (told) {
            key.leaseEnd = end;
        }
    }

    void completed(UUID by, boolean told, String json) {
        boolean again = key.state == State.COMPLETED && by.equals(key.claim);
        key.require(
                told == (again || key.isHeldBy(by)),
                "a completion counts for the claim that holds the key, and for no other");
        if (told && !again) {
            key.state = State.COMPLETED;
            key.result = json;
        }
    }

    void released(UUID by, boolean told, boolean inDoubt, boolean threw) {
        key.require(told == key.isHeldBy(by), "a release counts for the claim that holds the key, and for no other");
        if (told) {
            key.state = State.RELEASED;
            key.inDoubt |= inDoubt;
            key.failures += threw ? 1 : 0;
        }
    }

    void parked(UUID by, boolean told, boolean inDoubt, boolean threw) {
        boolean again = key.isParked(by);
        key.require(
                told == (again || key.isHeldBy(by)),
                "parking counts for the claim that holds the key, and for no other");
        if (told && !again) {
            key.state = State.PARKED;
            key.inDoubt |= inDoubt;
            key.failures += threw ? 1 : 0;
        }
    }

    void looked(KeyState told, Duration now) {
        KeyState expected = key.isFree(now)
                ? KeyState.FREE
                : new KeyState(KeyState.Status.valueOf(key.state.name()), key.fingerprint);
        key.require(told.equals(expected), "a look tells how a key stands, not " + told);
    }

    private void acquired(ClaimRequest request, Acquired acquired, Duration now) {
        key.require(key.state != State.COMPLETED, "a completed key is never acquired again");
        key.require(key.state != State.PARKED, "a parked key is never acquired");
        key.require(key.isFree(now), "at most one claim holds a key at any time");
        key.require(!isLate(request), "a claim that was given up never holds its key again");
        key.require(!key.isParkedBy(request, now), "a cautious request does not acquire what is in doubt");
        key.require(acquired.attempt() == key.attempts + 1, "attempts count up");
        key.require(acquired.fencingToken() > key.token, "fencing tokens only grow");
        key.require(acquired.inDoubt() == key.isNextInDoubt(), "doubt is told, and stays");
        key.require(acquired.failures() == key.failures, "attempts that threw are told, each once");
        key.inDoubt = key.isNextInDoubt();
        key.state = State.HELD;
        key.claim = request.claimId();
        key.fingerprint = request.fingerprint();
        key.leaseEnd = now.plus(request.lease());
        key.attempts = acquired.attempt();
        key.token = acquired.fencingToken();
        key.cleared = false;
    }

    private void heldAgain(ClaimRequest request, Acquired acquired, Duration now) {
        key.require(
                acquired.equals(new Acquired(key.attempts, key.token, key.inDoubt, key.failures)),
                "a retry finds its own claim as it was");
        key.leaseEnd = now.plus(request.lease());
    }

    private void completed(ClaimRequest request, @Nullable String told, boolean mismatch) {
        key.require(key.state == State.COMPLETED, "only a completed key is told to be one");
        key.require(Objects.equals(told, key.result), "the first result stays");
        key.require(mismatch == key.differs(request), "another payload is told from the same one");
    }

    /** Returns whether the request's own claim was the last one to hold the key, and was released. */
    private boolean isLate(ClaimRequest request) {
        return key.state == State.RELEASED && request.claimId().equals(key.claim);
    }

    private void heldElsewhere(ClaimRequest request, HeldElsewhere held, Duration now) {
        if (isLate(request)) {
            key.require(held.leaseRemaining().isZero(), "a late request is told that the key can be asked for at once");
            return;
        }
        key.require(key.state == State.HELD && !key.isFree(now), "a key is held elsewhere only while a lease lasts");
        key.require(!key.isHeldBy(request.claimId()), "a retry finds its own claim");
        Duration most = key.leaseEnd.minus(now);
        key.require(
                held.leaseRemaining().compareTo(most) <= 0
                        && held.leaseRemaining().compareTo(most.minus(DRIFT)) > 0,
                "what is left of a lease is told");
    }

    private void parked(ClaimRequest request, Duration now) {
        boolean byThisRequest = key.isParkedBy(request, now);
        key.require(key.state == State.PARKED || byThisRequest, "only what is in doubt is parked, and only on request");
        key.inDoubt |= byThisRequest;
        key.state = State.PARKED;
    }
}
