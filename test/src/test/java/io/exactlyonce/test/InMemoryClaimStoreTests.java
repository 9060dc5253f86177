package io.exactlyonce.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.KeySnapshot.Decision;
import io.exactlyonce.test.contract.ClaimStoreContract;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The contract of claim stores, in memory. */
class InMemoryClaimStoreTests extends ClaimStoreContract {

    private final InMemoryClaimStore store = new InMemoryClaimStore();

    @Override
    public ClaimStore store() {
        return store;
    }

    @Override
    public void endLease(ClaimId claim) {
        store.endLease(claim);
    }

    @Test
    void leaseEndsWhenItsTimeHasPassedAndNotBefore() {
        ClaimKey key = new ClaimKey("orders", "A-1");
        store.claim(List.of(request(key)));

        store.advance(Duration.ofSeconds(50));
        assertThat(store.claim(List.of(request(key))))
                .singleElement()
                .isInstanceOfSatisfying(
                        HeldElsewhere.class,
                        held -> assertThat(held.leaseRemaining())
                                .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(10)));

        store.advance(Duration.ofSeconds(10));
        assertThat(store.claim(List.of(request(key)))).noneMatch(HeldElsewhere.class::isInstance);
    }

    @Test
    void timeDoesNotRunBackwards() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.advance(Duration.ofSeconds(-1)))
                .withMessage("time (PT-1S) must not be negative, because the store's clock only moves forward");
        store.advance(Duration.ZERO);
    }

    @Test
    void recordsTellTheirStateAndNoResult() {
        ClaimRequest request = request(new ClaimKey("orders", "A-1"));
        ClaimRecord held = ClaimRecord.first(Decision.first(1), request, Duration.ZERO);

        assertThat(held).hasToString("HELD attempt 1");
        assertThat(held.completed("secret").orElseThrow()).hasToString("COMPLETED attempt 1");
    }

    @Test
    void completionOfAKeyThatWasNeverClaimedIsLost() {
        ClaimId unknown = request(new ClaimKey("orders", "A-1")).id();

        assertThat(store.resolve(List.of(new ClaimResolution.Completed(unknown, "1")))
                        .granted())
                .isEmpty();
    }

    private static ClaimRequest request(ClaimKey key) {
        return new ClaimRequest(key, UUID.randomUUID(), "worker", Duration.ofMinutes(1));
    }
}
