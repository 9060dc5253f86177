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

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The contract of every {@link io.exactlyonce.claim.ClaimStore} for calls with one key. */
interface ClaimLifeContract extends StoreUnderTest {

    @Test
    default void firstClaimIsAcquired() {
        Acquired acquired = acquire(store(), request(newKey()));

        assertThat(acquired.attempt()).isEqualTo(1);
        assertThat(acquired.fencingToken()).isPositive();
        assertThat(acquired.inDoubt()).isFalse();
    }

    @Test
    default void secondClaimIsHeldElsewhereWhileTheLeaseLasts() {
        ClaimKey key = newKey();
        acquire(store(), request(key));

        assertThat(claim(store(), request(key)))
                .isInstanceOfSatisfying(
                        HeldElsewhere.class,
                        held -> assertThat(held.leaseRemaining()).isPositive().isLessThanOrEqualTo(LEASE));
    }

    @Test
    default void sameKeyOfAnotherScopeIsAnotherKey() {
        ClaimKey key = newKey();
        acquire(store(), request(key));

        assertThat(claim(store(), request(new ClaimKey("payments", key.key())))).isInstanceOf(Acquired.class);
    }

    @Test
    default void longestScopeAndKeyAreTold() {
        String longest = UUID.randomUUID().toString().repeat(15).substring(0, ClaimKey.MAX_LENGTH);
        ClaimKey key = new ClaimKey(longest, longest);

        acquire(store(), request(key));

        assertThat(claim(store(), request(key))).isInstanceOf(HeldElsewhere.class);
    }

    @Test
    default void duplicateAfterCompletionGetsTheResult() {
        ClaimRequest first = request(newKey());
        acquire(store(), first);

        assertThat(complete(store(), first, "{\"charge\": 7}")).isTrue();

        assertThat(claim(store(), request(first.key()))).isEqualTo(new AlreadyCompleted("{\"charge\": 7}"));
    }

    @Test
    default void duplicateAfterCompletionWithoutResultGetsNone() {
        ClaimRequest first = request(newKey());
        acquire(store(), first);

        assertThat(complete(store(), first, null)).isTrue();

        assertThat(claim(store(), request(first.key()))).isEqualTo(new AlreadyCompleted(null));
    }

    @Test
    default void completedKeyStaysCompletedWhenItsLeaseIsOver() {
        ClaimRequest first = request(newKey());
        acquire(store(), first);
        complete(store(), first, "\"done\"");
        endLease(first.id());

        assertThat(claim(store(), request(first.key()))).isEqualTo(new AlreadyCompleted("\"done\""));
    }

    @Test
    default void completingTwiceKeepsTheFirstResult() {
        ClaimRequest first = request(newKey());
        acquire(store(), first);

        assertThat(complete(store(), first, "1")).isTrue();
        assertThat(complete(store(), first, "2")).isTrue();

        assertThat(claim(store(), request(first.key()))).isEqualTo(new AlreadyCompleted("1"));
    }

    @Test
    default void completedClaimIsNeitherRenewedNorReleased() {
        ClaimRequest first = request(newKey());
        acquire(store(), first);
        complete(store(), first, "1");

        assertThat(renew(store(), first)).isFalse();
        assertThat(release(store(), first)).isFalse();

        assertThat(claim(store(), request(first.key()))).isEqualTo(new AlreadyCompleted("1"));
    }

    @Test
    default void releasedKeyIsAcquiredAtOnceAndIsNotAmbiguous() {
        ClaimRequest first = request(newKey());
        Acquired acquired = acquire(store(), first);

        assertThat(release(store(), first)).isTrue();
        Acquired next = acquire(store(), request(first.key()));

        assertThat(next.attempt()).isEqualTo(2);
        assertThat(next.inDoubt()).isFalse();
        assertThat(next.fencingToken()).isGreaterThan(acquired.fencingToken());
    }

    @Test
    default void requestWhoseClaimWasReleasedAcquiresNothingAnyMore() {
        ClaimRequest late = request(newKey());
        acquire(store(), late);
        release(store(), late);

        assertThat(claim(store(), late)).isInstanceOf(HeldElsewhere.class);
        assertThat(renew(store(), late)).isFalse();

        List<ClaimOutcome> both = store().claim(List.of(late, request(late.key())));
        assertThat(both.get(0)).isInstanceOf(HeldElsewhere.class);
        assertThat(both.get(1))
                .isInstanceOfSatisfying(
                        Acquired.class, next -> assertThat(next.attempt()).isEqualTo(2));
    }

    @Test
    default void keyReleasedByAHandlerThatWasStoppedIsAmbiguousFromThenOn() {
        ClaimRequest stopped = request(newKey());
        acquire(store(), stopped);

        store().resolve(List.of(new ClaimResolution.Released(stopped.id(), "interrupted", true)));
        ClaimRequest second = request(stopped.key());
        assertThat(acquire(store(), second).inDoubt()).isTrue();

        release(store(), second);
        assertThat(acquire(store(), request(stopped.key())).inDoubt()).isTrue();
    }

    @Test
    default void releasedClaimIsNoLongerRenewedOrCompleted() {
        ClaimRequest first = request(newKey());
        acquire(store(), first);
        release(store(), first);

        assertThat(renew(store(), first)).isFalse();
        assertThat(complete(store(), first, "1")).isFalse();
        assertThat(release(store(), first)).isFalse();
    }

    @Test
    default void attemptsThatThrewAreCountedAndOthersAreNot() {
        ClaimRequest threw = request(newKey());
        assertThat(acquire(store(), threw).failures()).isZero();
        assertThat(fail(store(), threw)).isTrue();
        ClaimRequest released = request(threw.key());
        assertThat(acquire(store(), released).failures()).isEqualTo(1);
        release(store(), released);
        ClaimRequest threwToo = request(threw.key());
        assertThat(acquire(store(), threwToo).failures()).isEqualTo(1);
        assertThat(claim(store(), threwToo))
                .as("its retry is told the same")
                .isInstanceOfSatisfying(
                        Acquired.class, again -> assertThat(again.failures()).isEqualTo(1));
        fail(store(), threwToo);

        Acquired last = acquire(store(), request(threw.key()));

        assertThat(last.failures()).isEqualTo(2);
        assertThat(last.attempt()).isEqualTo(4);
    }

    /** The worker repeats the call, because the reply to the first call was lost. */
    @Test
    default void failureThatIsRecordedTwiceIsCountedOnce() {
        ClaimRequest threw = request(newKey());
        acquire(store(), threw);

        fail(store(), threw);
        fail(store(), threw);
        store().resolve(List.of(new ClaimResolution.Parked(threw.id(), "it threw", false, true)));

        assertThat(acquire(store(), request(threw.key())).failures()).isEqualTo(1);
    }

    @Test
    default void eachKeyOfACallHasItsOwnFailures() {
        List<ClaimRequest> first = List.of(request(newKey()), request(newKey()), request(newKey()));
        store().claim(first);

        store().resolve(List.of(
                new ClaimResolution.Released(first.get(0).id(), "it threw", false, true),
                new ClaimResolution.Released(first.get(1).id(), "stopped", true, false),
                new ClaimResolution.Released(first.get(2).id(), "it threw", false, true)));

        assertThat(store().claim(first.stream().map(each -> request(each.key())).toList()))
                .extracting(outcome -> ((Acquired) outcome).failures())
                .containsExactly(1, 0, 1);
    }

    @Test
    default void renewalsOfDifferentLengthsEachGetTheirOwn() {
        ClaimRequest longer = request(newKey());
        ClaimRequest shorter = request(newKey());
        store().claim(List.of(longer, shorter));

        var renewals = List.of(
                new LeaseRenewal(longer.id(), Duration.ofHours(1)),
                new LeaseRenewal(shorter.id(), Duration.ofMinutes(30)));
        assertThat(store().renew(renewals).granted()).containsExactlyInAnyOrder(longer.id(), shorter.id());

        assertThat(remaining(store(), longer.key())).isBetween(Duration.ofMinutes(55), Duration.ofHours(1));
        assertThat(remaining(store(), shorter.key())).isBetween(Duration.ofMinutes(25), Duration.ofMinutes(30));
    }

    @Test
    default void onlyHeldClaimsOfABatchAreRenewedCompletedAndReleased() {
        ClaimRequest held = request(newKey());
        ClaimRequest unknown = request(newKey());
        ClaimRequest stranger = request(held.key());
        acquire(store(), held);

        var requests = List.of(stranger, unknown, held);
        assertThat(store().renew(requests.stream()
                                .map(request -> new LeaseRenewal(request.id(), LEASE))
                                .toList())
                        .granted())
                .containsExactly(held.id());
        assertThat(store().resolve(requests.stream()
                                .map(request -> new ClaimResolution.Released(request.id(), "failed", false))
                                .toList())
                        .granted())
                .containsExactly(held.id());
    }
}
