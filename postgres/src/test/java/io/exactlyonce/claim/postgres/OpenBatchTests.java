package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeySnapshot.Action;
import io.exactlyonce.claim.KeyStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the rounds of a batch without a database. */
class OpenBatchTests {

    private static final ClaimKey KEY = new ClaimKey("orders", "A-1");
    private static final UUID HOLDER = new UUID(0, 1);

    private final ClaimRequest request = request();

    /** A fenced transaction of the former owner may still be open, and may last long. */
    @Test
    void freeRowThatIsAsItWasWhenItWasTriedIsHeldElsewhere() {
        OpenBatch batch = batch(request);

        List<KeyWrite> tried = batch.decide(Map.of(KEY, row(HOLDER, KeyStatus.RELEASED)));
        assertThat(tried).extracting(write -> write.decision().action()).containsExactly(Action.TAKE_OVER);
        batch.answer(tried, Set.of());
        assertThat(batch.decide(Map.of(KEY, row(HOLDER, KeyStatus.RELEASED)))).isEmpty();

        assertThat(batch.isLeft()).isFalse();
        assertThat(batch.result().claimed()).containsExactly(new HeldElsewhere(Duration.ZERO));
    }

    @Test
    void freeRowOfAnotherClaimOrStatusIsTriedAgain() {
        OpenBatch batch = batch(request);

        assertThat(batch.decide(Map.of(KEY, row(HOLDER, KeyStatus.RELEASED)))).hasSize(1);
        assertThat(batch.decide(Map.of(KEY, row(new UUID(0, 2), KeyStatus.RELEASED))))
                .hasSize(1);
        assertThat(batch.decide(Map.of(KEY, row(new UUID(0, 2), KeyStatus.HELD))))
                .hasSize(1);
    }

    @Test
    void oneOfTwoRequestsTriesAFreeKey() {
        OpenBatch batch = batch(request, request());

        List<KeyWrite> tried = batch.decide(Map.of(KEY, row(HOLDER, KeyStatus.RELEASED)));

        assertThat(tried).extracting(KeyWrite::request).containsExactly(request);
    }

    @Test
    void refusalEndsItsRequest() {
        OpenBatch batch = batch(request);

        assertThat(batch.decide(Map.of(KEY, row(HOLDER, KeyStatus.COMPLETED)))).isEmpty();

        assertThat(batch.result().claimed()).containsExactly(new AlreadyCompleted("1"));
    }

    @Test
    void resolutionIsRecordedLostOrLeftOpenByItsRow() {
        ClaimId claim = new ClaimId(KEY, HOLDER);
        ClaimResolution completion = new ClaimResolution.Completed(claim, "2");

        assertThat(resolved(completion, row(HOLDER, KeyStatus.COMPLETED))
                        .resolved()
                        .granted())
                .as("by an earlier call")
                .containsExactly(claim);
        assertThat(resolved(completion, row(new UUID(0, 2), KeyStatus.HELD)))
                .as("taken over")
                .isEqualTo(new ClaimBatch.Result(new ClaimAnswers(Set.of()), List.of()));
        assertThat(resolved(completion, row(HOLDER, KeyStatus.HELD)).resolved().unanswered())
                .as("locked")
                .containsExactly(claim);
        assertThat(resolved(new ClaimResolution.Released(claim, "late", false), row(HOLDER, KeyStatus.COMPLETED)))
                .isEqualTo(new ClaimBatch.Result(new ClaimAnswers(Set.of()), List.of()));
    }

    /**
     * An operator's release and the claim's own release leave the same row, so a repeated release does not count as
     * recorded.
     */
    @ParameterizedTest
    @CsvSource({
        "PARKED, PARKED, true",
        "PARKED, COMPLETED, false",
        "RELEASED, RELEASED, false",
        "COMPLETED, PARKED, false"
    })
    void endThatIsRepeatedIsRecordedIfItsStatusIsItsOwn(KeyStatus wanted, KeyStatus found, boolean isRecorded) {
        ClaimId claim = new ClaimId(KEY, HOLDER);
        ClaimResolution end = switch (wanted) {
            case COMPLETED -> new ClaimResolution.Completed(claim, null);
            case PARKED -> new ClaimResolution.Parked(claim, "told to", false, true);
            default -> new ClaimResolution.Released(claim, "failed", false, true);
        };

        assertThat(resolved(end, row(HOLDER, found)).resolved())
                .isEqualTo(new ClaimAnswers(isRecorded ? Set.of(claim) : Set.of()));
    }

    private static ClaimBatch.Result resolved(ClaimResolution resolution, KeySnapshot row) {
        OpenBatch batch = new OpenBatch(new ClaimBatch(List.of(resolution), List.of()));
        batch.decide(Map.of(KEY, row));
        return batch.result();
    }

    private static OpenBatch batch(ClaimRequest... requests) {
        return new OpenBatch(new ClaimBatch(List.of(), List.of(requests)));
    }

    private static ClaimRequest request() {
        return new ClaimRequest(KEY, UUID.randomUUID(), "worker", Duration.ofSeconds(30));
    }

    /** Returns a row whose lease has expired. */
    private static KeySnapshot row(UUID claim, KeyStatus status) {

        return new KeySnapshot(status, claim, 3, 41, false, false, Duration.ZERO, 77, null, "1", 0);
    }
}
