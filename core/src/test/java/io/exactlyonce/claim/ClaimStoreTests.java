package io.exactlyonce.claim;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.queue.ScriptedStore;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests the default methods of a store. */
class ClaimStoreTests {

    private final ScriptedStore store = new ScriptedStore();
    private final ClaimId claim = request(newKey()).id();
    private final ClaimId failed = request(newKey()).id();
    private final ClaimId doubtful = request(newKey()).id();

    @Test
    void batchIsOneCallForEachListThatIsNotEmpty() {
        ClaimRequest request = request(newKey());
        ClaimResolution.Completed completion = new ClaimResolution.Completed(claim, "1");
        ClaimResolution.Released release = new ClaimResolution.Released(failed, "failed", false);
        ClaimResolution.Parked parking = new ClaimResolution.Parked(doubtful, "ask the provider", false);

        ClaimBatch.Result result = store.apply(new ClaimBatch(List.of(completion, release, parking), List.of(request)));

        assertThat(store.completions()).containsExactly(completion);
        assertThat(store.releases()).containsExactly(release);
        assertThat(store.parkings()).containsExactly(parking);
        assertThat(store.claims()).containsExactly(request);
        assertThat(result.resolved().granted()).containsExactlyInAnyOrder(claim, failed, doubtful);
        assertThat(result.claimed()).hasSize(1);
    }

    @Test
    void endsThatAreAnsweredInPartKeepNoClaimOfTheirBatchFromBeingAsked() {
        store.onComplete(asked -> Set.of(failed));
        store.lock(claim);
        List<ClaimResolution> completions =
                List.of(new ClaimResolution.Completed(claim, "1"), new ClaimResolution.Completed(failed, "2"));

        ClaimBatch.Result result = store.apply(new ClaimBatch(completions, List.of(request(newKey()))));

        assertThat(result.resolved().granted()).containsExactly(failed);
        assertThat(result.resolved().unanswered()).containsExactly(claim);
        assertThat(result.claimed()).hasSize(1);
    }
}
