package io.exactlyonce.test;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.KeyState;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The immutable state of a key.
 *
 * @param attempt the latest
 * @param inDoubt whether an attempt may have had effects that are not recorded
 * @param leaseEnd when the lease ends, by the store's clock
 * @param error why the key was last released or parked
 * @param parkedAt when it was parked; stays until the next claim, and then means that an operator has decided
 */
record ClaimRecord(
        Status status,
        Attempt attempt,
        boolean inDoubt,
        Duration leaseEnd,
        @Nullable String result,
        @Nullable String error,
        @Nullable Duration parkedAt) {

    enum Status {
        HELD,
        COMPLETED,
        RELEASED,
        PARKED
    }

    /**
     * The claim that made or took over the record.
     *
     * @param owner the process that claimed
     * @param number counted from 1
     * @param token grows with each claim
     * @param fingerprint of the payload that the key was claimed for
     */
    record Attempt(
            UUID claimId,
            String owner,
            int number,
            long token,
            @Nullable String fingerprint) {

        private Attempt next(ClaimRequest request) {
            return new Attempt(request.claimId(), request.owner(), number + 1, token + 1, request.fingerprint());
        }
    }

    /** The record of a key that was never claimed before. */
    static ClaimRecord first(ClaimRequest request, Duration now) {
        Attempt attempt = new Attempt(request.claimId(), request.owner(), 1, 1, request.fingerprint());
        return new ClaimRecord(Status.HELD, attempt, false, now.plus(request.lease()), null, null, null);
    }

    /** The record after a request for the key: this one if the request changes nothing. */
    ClaimRecord claimed(ClaimRequest request, Duration now) {
        Duration end = now.plus(request.lease());
        if (isHeldBy(request)) {
            return until(end);
        }
        if (!isFree(now) || isReleasedBy(request)) {
            return this;
        }
        if (isNextInDoubt() && !isCleared() && request.inDoubt() == InDoubt.PARK) {
            return parked(now, error == null ? "its owner vanished" : error, true);
        }
        return new ClaimRecord(Status.HELD, attempt.next(request), isNextInDoubt(), end, null, error, null);
    }

    /** Answers a request that has been applied. */
    ClaimOutcome answer(ClaimRequest request, Duration now) {
        return switch (status) {
            case HELD ->
                isHeldBy(request)
                        ? acquired()
                        : ClaimOutcome.ofHeld(request, attempt.fingerprint(), leaseEnd.minus(now));
            case COMPLETED -> ClaimOutcome.ofCompleted(request, attempt.fingerprint(), result);
            case PARKED -> new ClaimOutcome.Parked();
            case RELEASED -> new ClaimOutcome.HeldElsewhere(Duration.ZERO);
        };
    }

    Acquired acquired() {
        return new Acquired(attempt.number(), attempt.token(), inDoubt);
    }

    /** Keeps no times but the lease's end. */
    ClaimDetails details(Duration now) {
        return new ClaimDetails(
                status.name(),
                attempt.claimId(),
                attempt.number(),
                attempt.token(),
                inDoubt,
                attempt.owner(),
                null,
                null,
                null,
                leaseEnd.compareTo(now) <= 0,
                null,
                null,
                null,
                error);
    }

    KeyState state(Duration now) {
        return isFree(now)
                ? KeyState.FREE
                : new KeyState(KeyState.Status.valueOf(status.name()), attempt.fingerprint());
    }

    Optional<ClaimRecord> renewed(Duration end) {
        return only(Status.HELD, until(end));
    }

    /** Repeatable: the first result stays. */
    Optional<ClaimRecord> completed(@Nullable String result) {
        return status == Status.COMPLETED ? Optional.of(this) : only(Status.HELD, ended(result));
    }

    Optional<ClaimRecord> released(String error, boolean inDoubt) {
        return only(
                Status.HELD,
                new ClaimRecord(Status.RELEASED, attempt, this.inDoubt || inDoubt, leaseEnd, result, error, null));
    }

    Optional<ClaimRecord> parked(String reason, boolean inDoubt, Duration now) {
        return only(Status.HELD, parked(now, reason, inDoubt));
    }

    /** An operator releases the key. */
    Optional<ClaimRecord> cleared() {
        return only(
                Status.PARKED, new ClaimRecord(Status.RELEASED, attempt, inDoubt, leaseEnd, result, error, parkedAt));
    }

    /** An operator confirms that the effect has happened. */
    Optional<ClaimRecord> settled(@Nullable String result) {
        return only(Status.PARKED, ended(result));
    }

    private Optional<ClaimRecord> only(Status from, ClaimRecord next) {
        return status == from ? Optional.of(next) : Optional.empty();
    }

    private ClaimRecord until(Duration end) {
        return new ClaimRecord(status, attempt, inDoubt, end, result, error, parkedAt);
    }

    private ClaimRecord ended(@Nullable String result) {
        return new ClaimRecord(Status.COMPLETED, attempt, inDoubt, leaseEnd, result, error, null);
    }

    private ClaimRecord parked(Duration now, String reason, boolean inDoubt) {
        return new ClaimRecord(Status.PARKED, attempt, this.inDoubt || inDoubt, leaseEnd, result, reason, now);
    }

    /** Its request comes late. */
    private boolean isReleasedBy(ClaimRequest request) {
        return status == Status.RELEASED && attempt.claimId().equals(request.claimId());
    }

    boolean isHeldBy(ClaimRequest request) {
        return status == Status.HELD && attempt.claimId().equals(request.claimId());
    }

    private boolean isFree(Duration now) {
        return status == Status.RELEASED || (status == Status.HELD && leaseEnd.compareTo(now) <= 0);
    }

    private boolean isNextInDoubt() {
        return inDoubt || status == Status.HELD;
    }

    private boolean isCleared() {
        return parkedAt != null;
    }

    /** Returns the state only: a result must not be logged. */
    @Override
    public String toString() {
        return status + " attempt " + attempt.number();
    }
}
