package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.postgres.ClaimRow.Status;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a row means, without a database. */
class ClaimRowTests {

    private static final ClaimKey KEY = new ClaimKey("orders", "A-1");
    private static final UUID HOLDER = new UUID(0, 1);
    private static final String ONE = ClaimKey.sha256("one");
    private static final String OTHER = ClaimKey.sha256("other");

    @ParameterizedTest
    @CsvSource({
        "HELD, 1, false", "HELD, 0, true", "HELD, -1, true",
        "RELEASED, 1, true", "COMPLETED, -1, false", "PARKED, -1, false"
    })
    void keyIsFreeWhenItWasGivenUpOrItsLeaseIsOver(Status status, long remainingMicros, boolean free) {
        assertThat(row(status, remainingMicros, false, null).isFree()).isEqualTo(free);
    }

    @ParameterizedTest
    @CsvSource({"HELD, true", "RELEASED, false", "COMPLETED, false", "PARKED, false"})
    void claimHoldsItsRowOnlyWhileTheRowIsHeld(Status status, boolean held) {
        ClaimRow row = row(status, 1, false, null);

        assertThat(row.isHeldBy(HOLDER)).isEqualTo(held);
        assertThat(row.isHeldBy(new UUID(0, 2))).isFalse();
        assertThat(row.current()).isEqualTo(new Acquired(3, 41, false));
    }

    /** A free row that is as it was when it was tried before is locked, and is not tried again. */
    @Test
    void rowIsAsItWasIfItsClaimAndStatusAre() {
        ClaimRow row = row(Status.HELD, 1, false, null);

        assertThat(row.isAsIn(row(Status.HELD, 0, true, null))).isTrue();
        assertThat(row.isAsIn(null)).as("no row then").isFalse();
        assertThat(row.isAsIn(row(Status.RELEASED, 1, false, null))).isFalse();
        assertThat(row.isAsIn(new ClaimRow(KEY, new UUID(0, 2), Status.HELD, 3, 41, false, 1, null, 77, null, false)))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({"HELD, false, true", "HELD, true, true", "RELEASED, false, false", "RELEASED, true, true"})
    void freeKeyIsInDoubtUnlessItsHolderSaidOtherwise(Status status, boolean wasInDoubt, boolean inDoubt) {
        ClaimRow row = row(status, 0, wasInDoubt, null);

        assertThat(row.isNextInDoubt()).isEqualTo(inDoubt);
        assertThat(row.next()).isEqualTo(new Acquired(4, 77, inDoubt));
        assertThat(row.mustBeParked(requested(InDoubt.PARK))).isEqualTo(inDoubt);
        assertThat(row.mustBeParked(requested(InDoubt.TAKE_OVER))).isFalse();
    }

    @Test
    void doubtThatAPersonHasDecidedOnIsToldAndParksNothing() {
        ClaimRow cleared = new ClaimRow(KEY, HOLDER, Status.RELEASED, 3, 41, true, 0, null, 77, null, true);

        assertThat(cleared.mustBeParked(requested(InDoubt.PARK))).isFalse();
        assertThat(cleared.next()).isEqualTo(new Acquired(4, 77, true));
    }

    @Test
    void refusalTellsWhy() {
        ClaimRequest request = request(null);

        assertThat(row(Status.HELD, 1_500_000, false, null).refusal(request))
                .isEqualTo(new HeldElsewhere(Duration.ofMillis(1_500)));
        assertThat(row(Status.PARKED, 0, false, null).refusal(request)).isEqualTo(new Parked());
        assertThat(row(Status.COMPLETED, 0, false, null).refusal(request)).isEqualTo(new AlreadyCompleted("1"));
        assertThatIllegalStateException()
                .isThrownBy(() -> row(Status.RELEASED, 0, false, null).refusal(request))
                .withMessageStartingWith("A released key is free: orders/");
    }

    @Test
    void payloadsAreComparedWhereBothAreKnown() {
        ClaimRow known = row(Status.COMPLETED, 0, false, ONE);

        assertThat(known.refusal(request(OTHER))).isEqualTo(new Mismatch("1"));
        assertThat(known.refusal(request(ONE))).isEqualTo(new AlreadyCompleted("1"));
        assertThat(known.refusal(request(null))).isEqualTo(new AlreadyCompleted("1"));
        assertThat(row(Status.COMPLETED, 0, false, null).refusal(request(ONE))).isEqualTo(new AlreadyCompleted("1"));
        assertThat(row(Status.HELD, 1_000, false, ONE).refusal(request(OTHER)))
                .isEqualTo(new HeldElsewhere(Duration.ofMillis(1), true));
    }

    @Test
    void textNamesNeitherKeyNorResult() {
        assertThat(row(Status.COMPLETED, 0, false, null)).hasToString(KEY + " COMPLETED attempt 3");
    }

    /** A decision of a person names the claim that was given up: it must not hold the key again. */
    @Test
    void keyThatTheRequestsOwnClaimHasGivenUpIsOutOfItsReach() {
        assertThat(row(Status.RELEASED, 1, false, null).wasReleasedBy(HOLDER)).isTrue();
        assertThat(row(Status.RELEASED, 1, false, null).wasReleasedBy(UUID.randomUUID()))
                .isFalse();
        assertThat(row(Status.HELD, 1, false, null).wasReleasedBy(HOLDER)).isFalse();
    }

    private static ClaimRow row(Status status, long remainingMicros, boolean inDoubt, String fingerprint) {
        return new ClaimRow(KEY, HOLDER, status, 3, 41, inDoubt, remainingMicros, "1", 77, fingerprint, false);
    }

    private static ClaimRequest requested(InDoubt inDoubt) {
        return new ClaimRequest(new ClaimId(KEY, UUID.randomUUID()), "worker", Duration.ofSeconds(30), inDoubt, null);
    }

    private static ClaimRequest request(String fingerprint) {
        return new ClaimRequest(
                new ClaimId(KEY, UUID.randomUUID()), "worker", Duration.ofSeconds(30), InDoubt.TAKE_OVER, fingerprint);
    }
}
