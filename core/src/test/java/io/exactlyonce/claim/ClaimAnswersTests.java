package io.exactlyonce.claim;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import org.junit.jupiter.api.Test;

class ClaimAnswersTests {

    private final ClaimId granted = request(newKey()).id();
    private final ClaimId other = request(newKey()).id();

    @Test
    void allAnswersAreTheGrantedClaims() {
        assertThat(new ClaimAnswers(Set.of(granted)).requireAll()).containsExactly(granted);
    }

    @Test
    void lockedClaimsAreNoAnswer() {
        ClaimAnswers locked = new ClaimAnswers(Set.of(granted), Set.of(other), null);

        assertThatThrownBy(locked::requireAll)
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessage(
                        "1 claim got no answer: another transaction locks it; repeat the call, and keep transactions short");
    }

    @Test
    void failureOfSomeIsTheReason() {
        IllegalStateException throttled = new IllegalStateException("throttled");

        assertThatThrownBy(() -> new ClaimAnswers(Set.of(), Set.of(granted, other), throttled).requireAll())
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessage("2 claims got no answer: throttled")
                .hasCause(throttled);
    }
}
