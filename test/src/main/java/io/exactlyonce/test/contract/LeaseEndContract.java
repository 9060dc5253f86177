package io.exactlyonce.test.contract;

import static io.exactlyonce.test.contract.Claims.acquire;
import static io.exactlyonce.test.contract.Claims.claim;
import static io.exactlyonce.test.contract.Claims.complete;
import static io.exactlyonce.test.contract.Claims.newKey;
import static io.exactlyonce.test.contract.Claims.release;
import static io.exactlyonce.test.contract.Claims.renew;
import static io.exactlyonce.test.contract.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import org.junit.jupiter.api.Test;

/** What every {@link io.exactlyonce.claim.ClaimStore} does when a lease ends, and when a reply is lost. */
interface LeaseEndContract extends StoreUnderTest {

    @Test
    default void keyWhoseLeaseIsOverIsTakenOverAndIsAmbiguous() {
        ClaimRequest crashed = request(newKey());
        Acquired first = acquire(store(), crashed);
        endLease(crashed.id());

        Acquired next = acquire(store(), request(crashed.key()));

        assertThat(next.attempt()).isEqualTo(2);
        assertThat(next.ambiguous()).isTrue();
        assertThat(next.fencingToken()).isGreaterThan(first.fencingToken());
    }

    @Test
    default void claimThatWasTakenOverChangesNothing() {
        ClaimRequest zombie = request(newKey());
        acquire(store(), zombie);
        endLease(zombie.id());
        ClaimRequest successor = request(zombie.key());
        acquire(store(), successor);

        assertThat(renew(store(), zombie)).isFalse();
        assertThat(complete(store(), zombie, "\"stale\"")).isFalse();
        assertThat(release(store(), zombie)).isFalse();

        assertThat(claim(store(), request(zombie.key()))).isInstanceOf(HeldElsewhere.class);
        assertThat(complete(store(), successor, "\"good\"")).isTrue();
        assertThat(complete(store(), zombie, "\"stale\"")).isFalse();
        assertThat(claim(store(), zombie)).isEqualTo(new AlreadyCompleted("\"good\""));
    }

    @Test
    default void ambiguityStaysForLaterAttempts() {
        ClaimRequest crashed = request(newKey());
        acquire(store(), crashed);
        endLease(crashed.id());
        ClaimRequest failed = request(crashed.key());
        acquire(store(), failed);
        release(store(), failed);

        Acquired third = acquire(store(), request(crashed.key()));

        assertThat(third.attempt()).isEqualTo(3);
        assertThat(third.ambiguous()).isTrue();
    }

    @Test
    default void renewalAfterTheLeaseIsOverRevivesTheClaim() {
        ClaimRequest late = request(newKey());
        acquire(store(), late);
        endLease(late.id());

        assertThat(renew(store(), late)).isTrue();

        assertThat(claim(store(), request(late.key()))).isInstanceOf(HeldElsewhere.class);
    }

    @Test
    default void completionAfterTheLeaseIsOverCounts() {
        ClaimRequest late = request(newKey());
        acquire(store(), late);
        endLease(late.id());

        assertThat(complete(store(), late, "1")).isTrue();

        assertThat(claim(store(), request(late.key()))).isEqualTo(new AlreadyCompleted("1"));
    }

    @Test
    default void releaseAfterTheLeaseIsOverLeavesNoAmbiguity() {
        ClaimRequest late = request(newKey());
        acquire(store(), late);
        endLease(late.id());

        assertThat(release(store(), late)).isTrue();

        assertThat(acquire(store(), request(late.key())).ambiguous()).isFalse();
    }

    @Test
    default void retryAfterALostReplyFindsItsOwnClaim() {
        ClaimRequest lost = request(newKey());
        Acquired first = acquire(store(), lost);

        assertThat(claim(store(), lost)).isEqualTo(first);
        assertThat(claim(store(), request(lost.key()))).isInstanceOf(HeldElsewhere.class);
    }

    @Test
    default void retryAfterALostReplyHoldsForAWholeLease() {
        ClaimRequest lost = request(newKey());
        Acquired first = acquire(store(), lost);
        endLease(lost.id());

        assertThat(claim(store(), lost)).isEqualTo(first);
        assertThat(claim(store(), request(lost.key()))).isInstanceOf(HeldElsewhere.class);
    }

    @Test
    default void retryOfACompletedClaimIsCompleted() {
        ClaimRequest lost = request(newKey());
        acquire(store(), lost);
        complete(store(), lost, "1");

        assertThat(claim(store(), lost)).isEqualTo(new AlreadyCompleted("1"));
    }
}
