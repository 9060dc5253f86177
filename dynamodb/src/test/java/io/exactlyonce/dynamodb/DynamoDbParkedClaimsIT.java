package io.exactlyonce.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.dynamodb.testing.StoreOnTable;
import io.exactlyonce.test.contract.ParkedClaimsContract;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The contract of parked claims, on DynamoDB Local. */
class DynamoDbParkedClaimsIT extends ParkedClaimsContract {

    private static final StoreOnTable TABLE = StoreOnTable.create();

    @Override
    public ClaimStore store() {
        return TABLE.store();
    }

    @Override
    public ParkedClaims parked() {
        return TABLE.parked();
    }

    @Override
    public void endLease(ClaimId claim) {
        TABLE.endLease(claim);
    }

    @Test
    void lifeOfAnyKeyIsShownParkedOrNot() {
        ClaimRequest request = new ClaimRequest(
                new ClaimKey("orders", UUID.randomUUID().toString()),
                UUID.randomUUID(),
                "worker-1",
                Duration.ofMinutes(1));
        assertThat(parked().details(request.key())).isEmpty();

        store().claim(List.of(request));
        ClaimDetails held = parked().details(request.key()).orElseThrow();
        assertThat(held.status()).isEqualTo(ClaimDetails.Status.HELD);
        assertThat(held.owner()).isEqualTo("worker-1");
        assertThat(held.attempt()).isOne();
        assertThat(held.isLeaseOver()).isFalse();
        assertThat(held.firstClaimedAt()).isNotNull();
        assertThat(held.claimedAt()).isAfterOrEqualTo(held.firstClaimedAt());
        assertThat(held.leaseUntil()).isAfter(held.claimedAt());

        store().resolve(List.of(new ClaimResolution.Parked(request.id(), "card declined", true)));
        ClaimDetails set = parked().details(request.key()).orElseThrow();
        assertThat(set.status()).isEqualTo(ClaimDetails.Status.PARKED);
        assertThat(set.parkedAt()).isNotNull();
        assertThat(set.error()).isEqualTo("card declined");
        assertThat(set.isInDoubt()).isTrue();
        assertThat(set.completedAt()).isNull();

        parked().complete(new ClaimResolution.Completed(request.id(), "1"));
        ClaimDetails completed = parked().details(request.key()).orElseThrow();
        assertThat(completed.status()).isEqualTo(ClaimDetails.Status.COMPLETED);
        assertThat(completed.completedAt()).isNotNull();
        assertThat(completed.expiresAt()).isAfter(completed.completedAt());
        assertThat(completed.toString()).as("neither payload nor result").doesNotContain("\"1\"");
    }
}
