package io.exactlyonce.test;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a key. Never changed, only replaced.
 *
 * @param claimId names the claim that made or took over the record
 * @param token grows with each claim
 * @param leaseEnd when the lease ends, by the store's clock
 * @param fingerprint of the payload that the key was last claimed for
 */
record ClaimRecord(
        Status status,
        UUID claimId,
        int attempt,
        long token,
        boolean ambiguous,
        Duration leaseEnd,
        @Nullable String fingerprint,
        @Nullable String result) {

    enum Status {
        HELD,
        COMPLETED,
        RELEASED,
        PARKED
    }

    /** The record of a key that nobody has claimed before. */
    static ClaimRecord first(ClaimRequest request, Duration now) {
        return new ClaimRecord(
                Status.HELD, request.claimId(), 1, 1, false, now.plus(request.lease()), request.fingerprint(), null);
    }

    /** The record after a request for the key: this one if the request changes nothing. */
    ClaimRecord claimed(ClaimRequest request, Duration now) {
        if (isHeldBy(request)) {
            return with(Status.HELD, now.plus(request.lease()), ambiguous, result);
        }
        if (!isFree(now)) {
            return this;
        }
        if (isInDoubt() && request.inDoubt() == InDoubt.PARK) {
            return with(Status.PARKED, leaseEnd, true, result);
        }
        return new ClaimRecord(
                Status.HELD,
                request.claimId(),
                attempt + 1,
                token + 1,
                isInDoubt(),
                now.plus(request.lease()),
                request.fingerprint(),
                null);
    }

    /** Answers a request that has been applied. */
    ClaimOutcome answer(ClaimRequest request, Duration now) {
        return switch (status) {
            case HELD -> isHeldBy(request) ? acquired() : new ClaimOutcome.HeldElsewhere(leaseEnd.minus(now));
            case COMPLETED ->
                differs(request) ? new ClaimOutcome.Mismatch(result) : new ClaimOutcome.AlreadyCompleted(result);
            case PARKED -> new ClaimOutcome.Parked();
            case RELEASED -> throw new IllegalStateException("A released key can be acquired: " + request.key());
        };
    }

    Acquired acquired() {
        return new Acquired(attempt, token, ambiguous);
    }

    Optional<ClaimRecord> renewed(Duration end) {
        return ifHeld(with(Status.HELD, end, ambiguous, result));
    }

    /** Repeatable: the first result stays. */
    Optional<ClaimRecord> completed(@Nullable String result) {
        return status == Status.COMPLETED
                ? Optional.of(this)
                : ifHeld(with(Status.COMPLETED, leaseEnd, ambiguous, result));
    }

    Optional<ClaimRecord> released(boolean inDoubt) {
        return ifHeld(with(Status.RELEASED, leaseEnd, ambiguous || inDoubt, result));
    }

    Optional<ClaimRecord> parked() {
        return ifHeld(with(Status.PARKED, leaseEnd, ambiguous, result));
    }

    private Optional<ClaimRecord> ifHeld(ClaimRecord next) {
        return status == Status.HELD ? Optional.of(next) : Optional.empty();
    }

    private boolean isHeldBy(ClaimRequest request) {
        return status == Status.HELD && claimId.equals(request.claimId());
    }

    private boolean isFree(Duration now) {
        return status == Status.RELEASED || (status == Status.HELD && leaseEnd.compareTo(now) <= 0);
    }

    private boolean isInDoubt() {
        return ambiguous || status == Status.HELD;
    }

    private boolean differs(ClaimRequest request) {
        return fingerprint != null && request.fingerprint() != null && !fingerprint.equals(request.fingerprint());
    }

    private ClaimRecord with(Status status, Duration leaseEnd, boolean ambiguous, @Nullable String result) {
        return new ClaimRecord(status, claimId, attempt, token, ambiguous, leaseEnd, fingerprint, result);
    }

    /** Names the state only: a result is no business of a log's. */
    @Override
    public String toString() {
        return status + " attempt " + attempt;
    }
}
