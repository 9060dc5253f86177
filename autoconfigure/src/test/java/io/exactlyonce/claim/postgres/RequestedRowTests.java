package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.ClaimRow.Status;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a request has learned of its key so far. */
class RequestedRowTests {

    private static final UUID HOLDER = UUID.randomUUID();

    private final ClaimRequest request = request(newKey());
    private final RequestedRow requested = new RequestedRow(request);

    private ClaimRow row(UUID holder, Status status) {
        return new ClaimRow(request.key(), holder, status, 1, 5, false, 0, null, 6, null, false);
    }

    @Test
    void rowIsThereOnceTheLastStatementHasSeenIt() {
        ClaimRow row = row(HOLDER, Status.HELD);
        assertThat(requested.isMet()).isFalse();
        assertThatIllegalStateException().isThrownBy(requested::row);

        assertThat(requested.met(row).isMet()).isTrue();
        assertThat(requested.row()).isSameAs(row);

        requested.missed();
        assertThat(requested.isMet()).isFalse();
    }

    /** Or a key whose row another transaction keeps locked would be tried for ever. */
    @Test
    void rowThatIsUnchangedAfterItWasToBeWrittenIsLocked() {
        requested.met(row(HOLDER, Status.HELD));
        assertThat(requested.isOutOfReach()).as("not written yet").isFalse();

        requested.contest();
        assertThat(requested.met(row(HOLDER, Status.HELD)).isOutOfReach()).isTrue();
    }

    @Test
    void rowThatHasChangedMeanwhileIsDecidedOnAnew() {
        requested.met(row(HOLDER, Status.HELD)).contest();

        assertThat(requested.met(row(UUID.randomUUID(), Status.HELD)).isOutOfReach())
                .isFalse();
        assertThat(requested.met(row(HOLDER, Status.RELEASED)).isOutOfReach()).isFalse();
    }

    /** A decision of a person names the claim that was given up: it must not hold the key again. */
    @Test
    void rowThatTheRequestsOwnClaimHasGivenUpIsOutOfItsReach() {
        assertThat(requested.met(row(request.claimId(), Status.RELEASED)).isOutOfReach())
                .isTrue();
        assertThat(requested.met(row(HOLDER, Status.RELEASED)).isOutOfReach()).isFalse();
    }

    @Test
    void requestIsOpenUntilItHasItsOutcome() {
        ClaimOutcome outcome = new ClaimOutcome.Parked();
        assertThat(requested.isOpen()).isTrue();
        assertThatIllegalStateException().isThrownBy(requested::outcome);

        requested.decide(outcome);

        assertThat(requested.isOpen()).isFalse();
        assertThat(requested.outcome()).isSameAs(outcome);
        assertThat(requested.request()).isSameAs(request);
        assertThat(requested.key()).isEqualTo(request.key());
    }
}
