package io.exactlyonce.test;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeySnapshot.Decision;
import io.exactlyonce.claim.KeyStatus;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The immutable state of a key.
 *
 * @param attempt the latest claim of the key
 * @param inDoubt whether an attempt may have had unrecorded effects
 * @param leaseEnd the end of the lease, by the store's clock
 * @param error why the key was last released or parked
 * @param parkedAt when the key was parked; {@code null} if it was not. An operator's release keeps this time until the
 *     next claim, to show that an operator released the key
 * @param failures the number of attempts that threw, counted from the first attempt, or from an operator's last release
 */
record ClaimRecord(
        KeyStatus status,
        Attempt attempt,
        boolean inDoubt,
        Duration leaseEnd,
        @Nullable String result,
        @Nullable String error,
        @Nullable Duration parkedAt,
        int failures) {

    /**
     * The latest claim of a key.
     *
     * @param owner the process that claimed the key
     * @param number the number of the attempt, counted from 1
     * @param token the fencing token, which grows with each claim
     * @param fingerprint the fingerprint of the payload for which the key was claimed
     */
    record Attempt(
            UUID claimId,
            String owner,
            int number,
            long token,
            @Nullable String fingerprint) {

        private static Attempt of(ClaimRequest request, Acquired claim) {
            return new Attempt(
                    request.claimId(), request.owner(), claim.attempt(), claim.fencingToken(), request.fingerprint());
        }
    }

    /** Returns the record of a key that was never claimed before. */
    static ClaimRecord first(Decision decision, ClaimRequest request, Duration now) {
        Attempt attempt = Attempt.of(request, decision.claim());
        return new ClaimRecord(KeyStatus.HELD, attempt, false, now.plus(request.lease()), null, null, null, 0);
    }

    /**
     * Returns the key's new record after the store has decided on a claim request. Returns this record if the decision
     * changes nothing.
     */
    ClaimRecord after(Decision decision, ClaimRequest request, Duration now) {
        Duration end = now.plus(request.lease());
        return switch (decision.action()) {
            case REFUSE, CLAIM_FIRST -> this;
            case RENEW -> until(end);
            case PARK -> parked(now, reasonOfDoubt(), true, failures);
            case TAKE_OVER -> {
                Acquired claim = decision.claim();
                yield new ClaimRecord(
                        KeyStatus.HELD, Attempt.of(request, claim), claim.inDoubt(), end, null, error, null, failures);
            }
        };
    }

    /**
     * Returns why the key is in doubt. A released key has the error of its release. If the key is held, {@code error}
     * comes from an earlier attempt, so the reason is that the owner vanished.
     */
    private String reasonOfDoubt() {
        return status == KeyStatus.RELEASED && error != null ? error : "its owner vanished";
    }

    KeySnapshot snapshot(Duration now) {
        return new KeySnapshot(
                status,
                attempt.claimId(),
                attempt.number(),
                attempt.token(),
                inDoubt,
                parkedAt != null,
                leaseEnd.minus(now),
                attempt.token() + 1,
                attempt.fingerprint(),
                result,
                failures);
    }

    /** The details of a claim. All times in {@link ClaimDetails} are optional, and this store returns none. */
    private record Details(
            ClaimDetails.Status status,
            UUID claimId,
            int attempt,
            long fencingToken,
            boolean isInDoubt,
            String owner,
            boolean isLeaseOver,
            @Nullable String error,
            int failures)
            implements ClaimDetails {}

    ClaimDetails details(Duration now) {
        return new Details(
                ClaimDetails.Status.valueOf(status.name()),
                attempt.claimId(),
                attempt.number(),
                attempt.token(),
                inDoubt,
                attempt.owner(),
                leaseEnd.compareTo(now) <= 0,
                error,
                failures);
    }

    Optional<ClaimRecord> renewed(Duration end) {
        return only(KeyStatus.HELD, until(end));
    }

    /** Completes the claim. If the claim was completed before, the first result stays. */
    Optional<ClaimRecord> completed(@Nullable String result) {
        return status == KeyStatus.COMPLETED ? Optional.of(this) : only(KeyStatus.HELD, ended(result));
    }

    Optional<ClaimRecord> released(ClaimResolution.Released release) {
        return only(
                KeyStatus.HELD,
                new ClaimRecord(
                        KeyStatus.RELEASED,
                        attempt,
                        inDoubt || release.inDoubt(),
                        leaseEnd,
                        result,
                        release.error(),
                        null,
                        failuresAfter(release)));
    }

    /** Parks the key. If the key was parked before, the first reason stays. */
    Optional<ClaimRecord> parked(ClaimResolution.Parked parking, Duration now) {
        return status == KeyStatus.PARKED
                ? Optional.of(this)
                : only(
                        KeyStatus.HELD,
                        parked(now, parking.reason(), inDoubt || parking.inDoubt(), failuresAfter(parking)));
    }

    private int failuresAfter(ClaimResolution resolution) {
        return resolution.threw() ? failures + 1 : failures;
    }

    /** Releases the key, because an operator decided so. */
    Optional<ClaimRecord> cleared() {
        return only(
                KeyStatus.PARKED,
                new ClaimRecord(KeyStatus.RELEASED, attempt, inDoubt, leaseEnd, result, error, parkedAt, 0));
    }

    /** Completes the key, because an operator confirmed the effect. */
    Optional<ClaimRecord> settled(@Nullable String result) {
        return only(KeyStatus.PARKED, ended(result));
    }

    private Optional<ClaimRecord> only(KeyStatus from, ClaimRecord next) {
        return status == from ? Optional.of(next) : Optional.empty();
    }

    private ClaimRecord until(Duration end) {
        return new ClaimRecord(status, attempt, inDoubt, end, result, error, parkedAt, failures);
    }

    private ClaimRecord ended(@Nullable String result) {
        return new ClaimRecord(KeyStatus.COMPLETED, attempt, inDoubt, leaseEnd, result, error, null, failures);
    }

    private ClaimRecord parked(Duration now, String reason, boolean inDoubt, int failures) {
        return new ClaimRecord(KeyStatus.PARKED, attempt, inDoubt, leaseEnd, result, reason, now, failures);
    }

    /** Returns only the state, because a result must not be logged. */
    @Override
    public String toString() {
        return status + " attempt " + attempt.number();
    }
}
