package io.exactlyonce.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.test.contract.ParkedClaimsContract;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The contract of parked claims, in memory. */
class InMemoryParkedClaimsTests extends ParkedClaimsContract {

    private final InMemoryClaimStore store = new InMemoryClaimStore();

    @Override
    public ClaimStore store() {
        return store;
    }

    @Override
    public ParkedClaims parked() {
        return store;
    }

    @Override
    public void endLease(ClaimId claim) {
        store.endLease(claim);
    }

    @Test
    void claimIsParkedAtTheStoresTime() {
        Instant before = Instant.now().truncatedTo(ChronoUnit.MICROS);
        store.advance(Duration.ofDays(3));
        ClaimRequest request =
                new ClaimRequest(new ClaimKey("orders", "A-1"), UUID.randomUUID(), "worker", Duration.ofMinutes(1));
        store.claim(List.of(request));
        store.resolve(List.of(new ClaimResolution.Parked(request.id(), "told to", false)));

        assertThat(store.find(request.key()).orElseThrow().parkedAt())
                .isBetween(before.plus(Duration.ofDays(3)), before.plus(Duration.ofDays(4)));
    }
}
