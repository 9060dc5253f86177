package io.exactlyonce.test.contract;

import static io.exactlyonce.test.contract.Claims.acquire;
import static io.exactlyonce.test.contract.Claims.claim;
import static io.exactlyonce.test.contract.Claims.complete;
import static io.exactlyonce.test.contract.Claims.newKey;
import static io.exactlyonce.test.contract.Claims.release;
import static io.exactlyonce.test.contract.Claims.renew;
import static io.exactlyonce.test.contract.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeyState;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The contract of every {@link io.exactlyonce.claim.ClaimStore} for keys in doubt, and for messages that have the same
 * key and different payloads.
 */
interface DoubtContract extends StoreUnderTest {

    String ONE_PAYLOAD = ClaimKey.sha256("one payload");
    String OTHER_PAYLOAD = ClaimKey.sha256("other payload");

    @Test
    default void parkedKeyIsNotAcquired() {
        ClaimRequest doubtful = request(newKey());
        acquire(store(), doubtful);

        assertThat(park(doubtful)).isTrue();

        assertThat(claim(store(), request(doubtful.key()))).isEqualTo(new Parked());
        assertThat(claim(store(), doubtful)).isEqualTo(new Parked());
    }

    @Test
    default void parkedClaimIsNeitherRenewedNorCompletedNorReleased() {
        ClaimRequest doubtful = request(newKey());
        acquire(store(), doubtful);
        park(doubtful);

        assertThat(renew(store(), doubtful)).isFalse();
        assertThat(complete(store(), doubtful, "1")).isFalse();
        assertThat(release(store(), doubtful)).isFalse();

        assertThat(claim(store(), request(doubtful.key()))).isEqualTo(new Parked());
    }

    /** The worker repeats the parking, because the reply to the first call was lost. */
    @Test
    default void parkingThatIsRepeatedIsRecorded() {
        ClaimRequest doubtful = request(newKey());
        acquire(store(), doubtful);

        assertThat(park(doubtful)).isTrue();
        assertThat(park(doubtful)).isTrue();

        assertThat(claim(store(), request(doubtful.key()))).isEqualTo(new Parked());
    }

    @Test
    default void claimThatWasTakenOverIsNotParkedByItsFormerHolder() {
        ClaimRequest zombie = request(newKey());
        acquire(store(), zombie);
        endLease(zombie.id());
        ClaimRequest successor = request(zombie.key());
        acquire(store(), successor);

        assertThat(park(zombie)).isFalse();

        assertThat(complete(store(), successor, "1")).isTrue();
    }

    @Test
    default void requestThatLeavesDoubtToAPersonParksAnAbandonedKey() {
        ClaimRequest crashed = request(newKey());
        acquire(store(), crashed);
        endLease(crashed.id());

        assertThat(claim(store(), cautious(crashed.key()))).isEqualTo(new Parked());

        assertThat(complete(store(), crashed, "1")).isFalse();
        assertThat(claim(store(), request(crashed.key()))).isEqualTo(new Parked());
    }

    @Test
    default void requestThatLeavesDoubtToAPersonParksAKeyThatWasReleasedInDoubt() {
        ClaimRequest stopped = request(newKey());
        acquire(store(), stopped);
        store().resolve(List.of(new ClaimResolution.Released(stopped.id(), "interrupted", true)));

        assertThat(claim(store(), cautious(stopped.key()))).isEqualTo(new Parked());
    }

    @Test
    default void requestThatLeavesDoubtToAPersonAcquiresWhatIsNotInDoubt() {
        ClaimRequest failed = request(newKey());
        acquire(store(), failed);
        release(store(), failed);

        assertThat(claim(store(), cautious(failed.key()))).isInstanceOf(Acquired.class);
        assertThat(claim(store(), cautious(newKey()))).isInstanceOf(Acquired.class);
    }

    @Test
    default void requestThatLeavesDoubtToAPersonWaitsForALiveHolder() {
        ClaimRequest alive = request(newKey());
        acquire(store(), alive);

        assertThat(claim(store(), cautious(alive.key()))).isInstanceOf(HeldElsewhere.class);

        assertThat(complete(store(), alive, "1")).isTrue();
    }

    @Test
    default void ofTwoCautiousRequestsForAnAbandonedKeyBothFindItParked() {
        ClaimRequest crashed = request(newKey());
        acquire(store(), crashed);
        endLease(crashed.id());

        assertThat(store().claim(List.of(cautious(crashed.key()), cautious(crashed.key()))))
                .containsOnly(new Parked());
    }

    @Test
    default void completedKeyRefusesAnotherPayloadAndTellsItsResult() {
        ClaimRequest first = withPayload(newKey(), ONE_PAYLOAD);
        acquire(store(), first);
        complete(store(), first, "1");

        assertThat(claim(store(), withPayload(first.key(), OTHER_PAYLOAD))).isEqualTo(new Mismatch("1"));
        assertThat(claim(store(), withPayload(first.key(), ONE_PAYLOAD))).isEqualTo(new AlreadyCompleted("1"));
    }

    @Test
    default void oneCallComparesEachOfOneCompletedKeysRequestsByItsOwnPayload() {
        ClaimRequest first = withPayload(newKey(), ONE_PAYLOAD);
        acquire(store(), first);
        complete(store(), first, "1");

        assertThat(store().claim(List.of(
                        withPayload(first.key(), OTHER_PAYLOAD), withPayload(first.key(), ONE_PAYLOAD))))
                .containsExactly(new Mismatch("1"), new AlreadyCompleted("1"));

        assertThat(store().peek(List.of(first.key())))
                .as("asking has changed nothing")
                .containsEntry(first.key(), KeyState.completed(ONE_PAYLOAD));
    }

    @Test
    default void payloadsAreComparedOnlyWhereBothAreKnown() {
        ClaimRequest known = withPayload(newKey(), ONE_PAYLOAD);
        acquire(store(), known);
        complete(store(), known, "1");
        ClaimRequest unknown = request(newKey());
        acquire(store(), unknown);
        complete(store(), unknown, "2");

        assertThat(claim(store(), request(known.key()))).isEqualTo(new AlreadyCompleted("1"));
        assertThat(claim(store(), withPayload(unknown.key(), ONE_PAYLOAD))).isEqualTo(new AlreadyCompleted("2"));
    }

    @Test
    default void takeoverIsForItsOwnPayload() {
        ClaimRequest failed = withPayload(newKey(), ONE_PAYLOAD);
        acquire(store(), failed);
        release(store(), failed);
        ClaimRequest corrected = withPayload(failed.key(), OTHER_PAYLOAD);
        acquire(store(), corrected);
        complete(store(), corrected, "1");

        assertThat(claim(store(), withPayload(failed.key(), OTHER_PAYLOAD))).isEqualTo(new AlreadyCompleted("1"));
        assertThat(claim(store(), withPayload(failed.key(), ONE_PAYLOAD))).isEqualTo(new Mismatch("1"));
    }

    private boolean park(ClaimRequest request) {
        return store().resolve(List.of(new ClaimResolution.Parked(request.id(), "told to", false)))
                .granted()
                .contains(request.id());
    }

    private static ClaimRequest cautious(ClaimKey key) {
        return asking(key, InDoubt.PARK, null);
    }

    private static ClaimRequest withPayload(ClaimKey key, String fingerprint) {
        return asking(key, InDoubt.TAKE_OVER, fingerprint);
    }

    private static ClaimRequest asking(ClaimKey key, InDoubt inDoubt, @Nullable String fingerprint) {
        return new ClaimRequest(new ClaimId(key, UUID.randomUUID()), "worker", Claims.LEASE, inDoubt, fingerprint);
    }
}
