package io.exactlyonce.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.exactlyonce.claim.ClaimRequest.InDoubt;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ClaimRequestTests {

    private static final ClaimKey KEY = new ClaimKey("orders", "A-1");
    private static final UUID CLAIM = new UUID(1, 2);
    private static final Duration LEASE = Duration.ofSeconds(30);

    @Test
    void fingerprintHas64Digits() {
        assertThat(withFingerprint(ClaimKey.sha256("payload")).fingerprint()).hasSize(64);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> withFingerprint("abc"))
                .withMessage("fingerprint (3 characters) must have 64 hexadecimal digits");
    }

    @Test
    void shortestLeaseIsATenthOfASecond() {
        Duration shortest = Duration.ofMillis(100);
        ClaimId claim = new ClaimId(KEY, CLAIM);

        assertThat(new ClaimRequest(KEY, CLAIM, "worker", shortest).lease()).isEqualTo(shortest);
        assertThat(new LeaseRenewal(claim, shortest).lease()).isEqualTo(shortest);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ClaimRequest(KEY, CLAIM, "worker", shortest.minusNanos(1)))
                .withMessage("lease (PT0.099999999S) must be at least PT0.1S");
        assertThatIllegalArgumentException().isThrownBy(() -> new LeaseRenewal(claim, shortest.minusNanos(1)));
    }

    @Test
    void keyIsRememberedAsLongAsTheStoresOthersUnlessTheRequestHasARetention() {
        ClaimRequest usual = new ClaimRequest(KEY, CLAIM, "worker", LEASE);
        ClaimRequest longer = new ClaimRequest(usual.id(), "worker", LEASE, InDoubt.PARK, null, Duration.ofDays(30));

        assertThat(usual.retentionOr(Duration.ofDays(18))).isEqualTo(Duration.ofDays(18));
        assertThat(longer.retentionOr(Duration.ofDays(18))).isEqualTo(Duration.ofDays(30));
    }

    private static ClaimRequest withFingerprint(String fingerprint) {
        return new ClaimRequest(new ClaimId(KEY, CLAIM), "worker", LEASE, InDoubt.PARK, fingerprint);
    }
}
