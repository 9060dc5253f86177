package io.exactlyonce.test.contract;

import static io.exactlyonce.test.contract.Claims.acquire;
import static io.exactlyonce.test.contract.Claims.complete;
import static io.exactlyonce.test.contract.Claims.newKey;
import static io.exactlyonce.test.contract.Claims.release;
import static io.exactlyonce.test.contract.Claims.renew;
import static io.exactlyonce.test.contract.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.KeyState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The contract of every {@link io.exactlyonce.claim.ClaimStore} for {@code peek}. While a delivery waits for its key,
 * the engine calls {@code peek} to see whether the key is still held.
 */
interface PeekContract extends StoreUnderTest {

    private @Nullable KeyState look(ClaimKey key) {
        return store().peek(List.of(key)).get(key);
    }

    @Test
    default void keyThatWasNeverClaimedIsFreeAndStaysUnclaimed() {
        ClaimRequest first = request(newKey());

        assertThat(look(first.key())).isEqualTo(KeyState.FREE);

        assertThat(acquire(store(), first).attempt()).isEqualTo(1);
    }

    @Test
    default void claimedKeyIsHeldUntilItIsCompleted() {
        ClaimRequest first = request(newKey());
        acquire(store(), first);
        assertThat(look(first.key())).isEqualTo(KeyState.HELD);

        complete(store(), first, "1");
        assertThat(look(first.key())).isEqualTo(KeyState.completed(null));

        endLease(first.id());
        assertThat(look(first.key())).isEqualTo(KeyState.completed(null));
    }

    /**
     * A waiting delivery compares its payload with the completed one, and does not claim the key for this. So
     * {@code peek} must return the payload's fingerprint.
     */
    @Test
    default void completedKeyTellsThePayloadOfItsLastClaim() {
        ClaimRequest failed = withPayload(newKey(), ClaimKey.sha256("wrong"));
        acquire(store(), failed);
        assertThat(look(failed.key())).isEqualTo(KeyState.HELD);
        release(store(), failed);
        assertThat(look(failed.key())).isEqualTo(KeyState.FREE);
        ClaimRequest corrected = withPayload(failed.key(), ClaimKey.sha256("right"));
        acquire(store(), corrected);
        complete(store(), corrected, "1");

        assertThat(look(failed.key())).isEqualTo(KeyState.completed(ClaimKey.sha256("right")));
    }

    private static ClaimRequest withPayload(ClaimKey key, String fingerprint) {
        ClaimRequest plain = request(key);
        return new ClaimRequest(
                new ClaimId(key, plain.claimId()),
                plain.owner(),
                plain.lease(),
                ClaimRequest.InDoubt.TAKE_OVER,
                fingerprint);
    }

    @Test
    default void releasedKeyIsFreeUntilItIsClaimedAgain() {
        ClaimRequest first = request(newKey());
        acquire(store(), first);
        release(store(), first);
        assertThat(look(first.key())).isEqualTo(KeyState.FREE);

        acquire(store(), request(first.key()));
        assertThat(look(first.key())).isEqualTo(KeyState.HELD);
    }

    @Test
    default void keyIsFreeWhileTheLeaseIsOver() {
        ClaimRequest slow = request(newKey());
        acquire(store(), slow);
        endLease(slow.id());
        assertThat(look(slow.key())).isEqualTo(KeyState.FREE);

        renew(store(), slow);
        assertThat(look(slow.key())).isEqualTo(KeyState.HELD);
    }

    @Test
    default void lookEndsNoClaim() {
        ClaimRequest first = request(newKey());
        acquire(store(), first);

        look(first.key());

        assertThat(complete(store(), first, "1")).isTrue();
    }

    @Test
    default void hundredKeysAreLookedAtTogether() {
        Map<ClaimKey, KeyState> expected = new HashMap<>();
        for (int i = 0; i < 100; i++) {
            ClaimRequest claim = request(newKey());
            if (i % 3 > 0) {
                acquire(store(), claim);
            }
            if (i % 3 > 1) {
                complete(store(), claim, "1");
            }
            expected.put(
                    claim.key(),
                    List.of(KeyState.FREE, KeyState.HELD, KeyState.completed(null))
                            .get(i % 3));
        }

        assertThat(store().peek(expected.keySet())).isEqualTo(expected);
    }

    @Test
    default void lookAtNoKeyOnlyShowsThatTheStoreAnswers() {
        assertThat(store().peek(List.of())).isEmpty();
    }
}
