package io.exactlyonce.claim;

import static io.exactlyonce.claim.Claims.newKey;
import static io.exactlyonce.claim.Claims.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.visibility.ScriptedStore;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a store has without doing anything for it. */
class ClaimStoreTests {

    private final ScriptedStore store = new ScriptedStore();
    private final ClaimId claim = request(newKey()).id();

    @Test
    void batchIsOneCallForEachListThatIsNotEmpty() {
        ClaimRequest request = request(newKey());
        Completion completion = new Completion(claim, "1");
        Release release = new Release(claim, "failed", false);
        Parking parking = new Parking(claim, "ask somebody", false);

        ClaimBatchResult result =
                store.apply(new ClaimBatch(List.of(completion), List.of(release), List.of(parking), List.of(request)));

        assertThat(store.completions()).containsExactly(completion);
        assertThat(store.releases()).containsExactly(release);
        assertThat(store.parkings()).containsExactly(parking);
        assertThat(store.claims()).containsExactly(request);
        assertThat(result.completed()).containsExactly(claim);
        assertThat(result.released()).containsExactly(claim);
        assertThat(result.parked()).containsExactly(claim);
        assertThat(result.claimed()).hasSize(1);
    }

    @Test
    void emptyBatchCallsNothing() {
        ClaimBatchResult result = store.apply(new ClaimBatch(List.of(), List.of(), List.of(), List.of()));

        assertThat(store.claims()).isEmpty();
        assertThat(result.completed()).isEmpty();
        assertThat(result.claimed()).isEmpty();
    }

    @Test
    void storeThatSharesNoTransactionsSaysSo() {
        ClaimStore plain = new GatedStore();

        assertThatThrownBy(() -> plain.fence(claim))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("GatedStore shares no transactions");
    }
}
