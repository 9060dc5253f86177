package io.exactlyonce.test.contract;

import static io.exactlyonce.test.contract.Claims.acquire;
import static io.exactlyonce.test.contract.Claims.complete;
import static io.exactlyonce.test.contract.Claims.newKey;
import static io.exactlyonce.test.contract.Claims.release;
import static io.exactlyonce.test.contract.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The contract of every {@link io.exactlyonce.claim.ClaimStore} for calls with many keys. */
interface ClaimBatchContract extends StoreUnderTest {

    @Test
    default void ofTwoRequestsForAFreshKeyTheFirstAcquiresIt() {
        ClaimKey key = newKey();

        assertFirstAcquires(store().claim(List.of(request(key), request(key))));
    }

    @Test
    default void ofTwoRequestsForAReleasedKeyTheFirstAcquiresIt() {
        ClaimRequest failed = request(newKey());
        acquire(store(), failed);
        release(store(), failed);

        assertFirstAcquires(store().claim(List.of(request(failed.key()), request(failed.key()))));
    }

    @Test
    default void ofTwoRequestsForAnExpiredKeyTheFirstAcquiresIt() {
        ClaimRequest crashed = request(newKey());
        acquire(store(), crashed);
        endLease(crashed.id());

        assertFirstAcquires(store().claim(List.of(request(crashed.key()), request(crashed.key()))));
    }

    @Test
    default void requestThatHoldsItsKeyKeepsItAgainstAnotherInItsBatch() {
        ClaimRequest holder = request(newKey());
        acquire(store(), holder);

        List<ClaimOutcome> outcomes = store().claim(List.of(request(holder.key()), holder));

        assertThat(outcomes.get(0)).isInstanceOf(HeldElsewhere.class);
        assertThat(outcomes.get(1)).isInstanceOf(Acquired.class);
    }

    @Test
    default void hundredMixedKeysAreAnsweredInTheirOrder() {
        List<ClaimRequest> batch = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            batch.add(request(keyInState(i % 5)));
        }

        List<ClaimOutcome> outcomes = store().claim(batch);

        assertThat(outcomes).hasSameSizeAs(batch);
        for (int i = 0; i < 100; i++) {
            assertThat(outcomes.get(i)).as("outcome %d", i).satisfies(expectedInState(i % 5));
        }
    }

    @Test
    default void hundredClaimsAreCompletedTogether() {
        List<ClaimRequest> batch =
                Stream.generate(() -> request(newKey())).limit(100).toList();
        store().claim(batch);

        assertThat(store().resolve(batch.stream()
                                .map(claim -> new ClaimResolution.Completed(
                                        claim.id(), claim.key().key()))
                                .toList())
                        .granted())
                .hasSize(100);

        assertThat(store().claim(batch.stream()
                        .map(claim -> request(claim.key()))
                        .toList()))
                .containsExactlyElementsOf(batch.stream()
                        .map(claim -> new AlreadyCompleted(claim.key().key()))
                        .toList());
    }

    @Test
    default void keyThatEndsInABatchCanBeClaimedInIt() {
        ClaimRequest done = request(newKey());
        ClaimRequest failed = request(newKey());
        ClaimRequest doubtful = request(newKey());
        store().claim(List.of(done, failed, doubtful));

        ClaimBatch.Result result = store().apply(new ClaimBatch(
                List.of(
                        new ClaimResolution.Completed(done.id(), "1"),
                        new ClaimResolution.Released(failed.id(), "failed", false),
                        new ClaimResolution.Parked(doubtful.id(), "who knows", false)),
                List.of(request(failed.key()), request(newKey()), request(doubtful.key()), request(done.key()))));

        assertThat(result.resolved().granted()).containsExactlyInAnyOrder(done.id(), failed.id(), doubtful.id());
        assertThat(result.claimed().subList(0, 2)).hasOnlyElementsOfType(Acquired.class);
        assertThat(result.claimed().subList(2, 4))
                .containsExactly(new ClaimOutcome.Parked(), new AlreadyCompleted("1"));
    }

    @Test
    default void claimThatIsCompletedTwiceInOneCallIsCompleted() {
        ClaimRequest claim = request(newKey());
        acquire(store(), claim);

        assertThat(store().resolve(List.of(
                                new ClaimResolution.Completed(claim.id(), "1"),
                                new ClaimResolution.Completed(claim.id(), "1")))
                        .granted())
                .containsExactly(claim.id());
    }

    private ClaimKey keyInState(int state) {
        ClaimRequest earlier = request(newKey());
        if (state > 0) {
            acquire(store(), earlier);
        }
        switch (state) {
            case 2 -> complete(store(), earlier, "1");
            case 3 -> release(store(), earlier);
            case 4 -> endLease(earlier.id());
            default -> {}
        }
        return earlier.key();
    }

    private static Consumer<ClaimOutcome> expectedInState(int state) {
        return outcome -> {
            switch (state) {
                case 1 -> assertThat(outcome).isInstanceOf(HeldElsewhere.class);
                case 2 -> assertThat(outcome).isEqualTo(new AlreadyCompleted("1"));
                default -> {
                    assertThat(outcome).isInstanceOf(Acquired.class);
                    assertThat(((Acquired) outcome).attempt()).isEqualTo(state == 0 ? 1 : 2);
                    assertThat(((Acquired) outcome).inDoubt()).isEqualTo(state == 4);
                }
            }
        };
    }

    private static void assertFirstAcquires(List<ClaimOutcome> outcomes) {
        assertThat(outcomes).hasSize(2);
        assertThat(outcomes.get(0)).isInstanceOf(Acquired.class);
        assertThat(outcomes.get(1)).isInstanceOf(HeldElsewhere.class);
    }
}
