package io.exactlyonce.test.contract;

import static io.exactlyonce.test.contract.Claims.LEASE;
import static io.exactlyonce.test.contract.Claims.acquire;
import static io.exactlyonce.test.contract.Claims.claim;
import static io.exactlyonce.test.contract.Claims.complete;
import static io.exactlyonce.test.contract.Claims.fail;
import static io.exactlyonce.test.contract.Claims.newKey;
import static io.exactlyonce.test.contract.Claims.release;
import static io.exactlyonce.test.contract.Claims.remaining;
import static io.exactlyonce.test.contract.Claims.renew;
import static io.exactlyonce.test.contract.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The contract of every {@link io.exactlyonce.claim.ClaimStore} for expired leases and lost replies. */
interface LeaseEndContract extends StoreUnderTest {

    @Test
    default void keyWhoseLeaseIsOverIsTakenOverAndIsAmbiguous() {
        ClaimRequest crashed = request(newKey());
        Acquired first = acquire(store(), crashed);
        endLease(crashed.id());

        Acquired next = acquire(store(), request(crashed.key()));

        assertThat(next.attempt()).isEqualTo(2);
        assertThat(next.inDoubt()).isTrue();
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

    /**
     * If another worker has taken the key over, the store must answer that the claim is lost. If the store gave no
     * answer, the worker would repeat its call.
     */
    @Test
    default void claimThatWasTakenOverIsAnsweredAsLost() {
        ClaimRequest zombie = request(newKey());
        acquire(store(), zombie);
        endLease(zombie.id());
        acquire(store(), request(zombie.key()));
        ClaimAnswers lost = new ClaimAnswers(Set.of());

        assertThat(store().renew(List.of(new LeaseRenewal(zombie.id(), Claims.LEASE))))
                .isEqualTo(lost);
        assertThat(store().resolve(List.of(new ClaimResolution.Released(zombie.id(), "late", true))))
                .isEqualTo(lost);
        assertThat(store().apply(new ClaimBatch(List.of(new ClaimResolution.Completed(zombie.id(), null)), List.of()))
                        .resolved())
                .isEqualTo(lost);
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
        assertThat(third.inDoubt()).isTrue();
    }

    @Test
    default void crashAndTakeoverAreNoFailures() {
        ClaimRequest crashed = request(newKey());
        acquire(store(), crashed);
        endLease(crashed.id());

        assertThat(acquire(store(), request(crashed.key())).failures()).isZero();
    }

    /**
     * The first worker pauses for longer than its lease, and reports its failure after a second worker has taken the
     * key over.
     */
    @Test
    default void failureOfAClaimThatWasTakenOverIsNotCounted() {
        ClaimRequest zombie = request(newKey());
        acquire(store(), zombie);
        endLease(zombie.id());
        ClaimRequest successor = request(zombie.key());
        acquire(store(), successor);

        assertThat(fail(store(), zombie)).isFalse();
        assertThat(fail(store(), successor)).isTrue();

        assertThat(acquire(store(), request(zombie.key())).failures()).isEqualTo(1);
    }

    @Test
    default void failureAfterTheLeaseIsOverIsCounted() {
        ClaimRequest late = request(newKey());
        acquire(store(), late);
        endLease(late.id());

        assertThat(fail(store(), late)).isTrue();

        assertThat(acquire(store(), request(late.key())).failures()).isEqualTo(1);
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

        assertThat(acquire(store(), request(late.key())).inDoubt()).isFalse();
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
        assertThat(remaining(store(), lost.key())).isGreaterThan(LEASE.dividedBy(2));
    }

    /**
     * If the store does not answer, the worker repeats the claim, and expects the lease to start with the last call. So
     * the store must start the lease anew with each call.
     */
    @Test
    default void eachRetryStartsTheLeaseAnew() {
        ClaimRequest lost = request(newKey());
        Acquired first = acquire(store(), lost);

        for (int minutes : new int[] {60, 30, 90}) {
            Duration lease = Duration.ofMinutes(minutes);
            assertThat(claim(store(), lasting(lost, lease))).isEqualTo(first);
            assertThat(remaining(store(), lost.key())).isBetween(lease.minusMinutes(5), lease);
        }
        assertThat(renew(store(), lost)).isTrue();
        assertThat(complete(store(), lost, "1")).isTrue();
    }

    @Test
    default void retryKeepsAKeyThatIsOverAgainstOthersInItsBatch() {
        ClaimRequest early = request(newKey());
        ClaimRequest late = request(newKey());
        Acquired one = acquire(store(), early);
        Acquired other = acquire(store(), late);
        endLease(early.id());
        endLease(late.id());

        List<ClaimOutcome> outcomes =
                store().claim(List.of(early, request(late.key()), request(early.key()), late, request(newKey())));

        assertThat(outcomes.get(0)).isEqualTo(one);
        assertThat(outcomes.get(3)).isEqualTo(other);
        assertThat(outcomes.subList(1, 3)).hasOnlyElementsOfType(HeldElsewhere.class);
        assertThat(outcomes.get(4)).isInstanceOf(Acquired.class);
        assertThat(remaining(store(), late.key())).isGreaterThan(LEASE.dividedBy(2));
    }

    /**
     * The reply to the claim was lost, so no handler has started. When the worker repeats the claim, the key is
     * therefore not in doubt, even if the lease has expired.
     */
    @Test
    default void retryThatLeavesDoubtToAPersonParksNothingOfItsOwn() {
        ClaimRequest plain = request(newKey());
        ClaimRequest lost = new ClaimRequest(
                new ClaimId(plain.key(), plain.claimId()), plain.owner(), LEASE, ClaimRequest.InDoubt.PARK, null);
        Acquired first = acquire(store(), lost);
        endLease(lost.id());

        assertThat(claim(store(), lost)).isEqualTo(first);
        assertThat(first.inDoubt()).isFalse();
    }

    @Test
    default void retryAfterATakeoverLeavesTheSuccessorItsKey() {
        ClaimRequest lost = request(newKey());
        acquire(store(), lost);
        endLease(lost.id());
        ClaimRequest successor = lasting(request(lost.key()), LEASE.multipliedBy(60));
        acquire(store(), successor);

        assertThat(claim(store(), lost)).isInstanceOf(HeldElsewhere.class);

        assertThat(remaining(store(), lost.key())).isGreaterThan(LEASE);
        assertThat(complete(store(), successor, "1")).isTrue();
    }

    @Test
    default void retryOfACompletedClaimIsCompleted() {
        ClaimRequest lost = request(newKey());
        acquire(store(), lost);
        complete(store(), lost, "1");

        assertThat(claim(store(), lost)).isEqualTo(new AlreadyCompleted("1"));
    }

    private static ClaimRequest lasting(ClaimRequest request, Duration lease) {
        return new ClaimRequest(request.key(), request.claimId(), request.owner(), lease);
    }
}
