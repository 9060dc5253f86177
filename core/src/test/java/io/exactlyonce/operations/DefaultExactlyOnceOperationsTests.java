package io.exactlyonce.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.delivery.StoredResults;
import io.exactlyonce.delivery.TestResults;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DefaultExactlyOnceOperationsTests {

    private static final ParkedClaim PARKED =
            new ParkedClaim("orders", "A-1", UUID.randomUUID(), 2, true, "told to", 1_500_000);

    private static final ParkedClaim LATER =
            new ParkedClaim("orders", "A-2", UUID.randomUUID(), 1, false, "told to", 1_600_000);

    /** Knows two claims, the second one by its page only, and notes what it is asked for. */
    private static final class TwoParkedClaims implements ParkedClaims {
        private final List<Object> asked = new ArrayList<>();
        private boolean isDecided;

        @Override
        public List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
            asked.add(limit);
            return List.of(after == null ? PARKED : LATER);
        }

        @Override
        public Optional<ParkedClaim> find(ClaimKey key) {
            asked.add(key);
            return isDecided ? Optional.empty() : Optional.of(PARKED);
        }

        @Override
        public boolean release(ClaimId claim) {
            asked.add(claim);
            return !isDecided;
        }

        @Override
        public boolean complete(ClaimResolution.Completed completion) {
            asked.add(completion);
            return !isDecided;
        }
    }

    private final DeliveryRig rig = new DeliveryRig();
    private final TwoParkedClaims parked = new TwoParkedClaims();
    private final AtomicInteger checks = new AtomicInteger();
    private final DefaultExactlyOnceOperations operations = new DefaultExactlyOnceOperations(
            new ActionExecutor(
                    rig.claims(),
                    new ClaimSettings("worker", null),
                    rig.renewer,
                    new StoredResults(TestResults.reading((json, type) -> json), Long.MAX_VALUE),
                    rig.clock),
            parked,
            new StoredResults(new TestResults(result -> "\"" + result + "\"", (json, type) -> json), 8),
            checks::incrementAndGet,
            InDoubtSettings.RERUN);

    @Test
    void doubtsAreRunAgainUnlessTheCallerWantsThemParked() {
        operations.execute("orders", "A-1", String.class, claim -> "done");
        operations.whenInDoubt(InDoubtPolicy.PARK).execute("orders", "A-2", String.class, claim -> "done");

        assertThat(rig.store.claims())
                .extracting(ClaimRequest::inDoubt)
                .containsExactly(InDoubt.TAKE_OVER, InDoubt.PARK);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operations.whenInDoubt(InDoubtPolicy.RECONCILE))
                .withMessageContaining("must be RERUN or PARK");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\0b"})
    void scopesAndKeysThatCannotBeStoredAreRefused(String text) {
        assertThatThrownBy(() -> operations.execute("orders", text, String.class, claim -> "done"))
                .isInstanceOf(InvalidKeyException.class);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operations.execute(text, "A-1", String.class, claim -> "done"))
                .withMessageContaining("scope");

        assertThat(rig.store.claims()).isEmpty();
    }

    @Test
    void storeIsCheckedBeforeEachOperation() {
        operations.execute("orders", "A-1", String.class, claim -> "done");
        assertThat(operations.parked(10)).containsExactly(PARKED);
        assertThat(operations.parkedAfter(PARKED, 5)).containsExactly(LATER);
        operations.findParked("orders", "A-1");
        operations.releaseParked(PARKED);
        operations.completeParked(PARKED, null);

        assertThat(checks).hasValue(6);
        assertThat(parked.asked).startsWith(10, 5);
    }

    @Test
    void actionsResultIsReturned() {
        assertThat(operations.<String, RuntimeException>execute("orders", "A-1", String.class, claim -> "done"))
                .isEqualTo("done");
        assertThat(operations.<String, RuntimeException>execute(
                        "orders", "A-2", "payload", String.class, claim -> "done, too"))
                .isEqualTo("done, too");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1_000})
    void pageMayBeAsSmallAndAsLargeAsItsBounds(int limit) {
        assertThat(operations.parked(limit)).containsExactly(PARKED);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 1_001})
    void pagesHaveBounds(int limit) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operations.parked(limit))
                .withMessage("limit (%d) must be from 1 to 1000", limit);
    }

    @Test
    void decisionsNameTheClaimThatWasSeen() {
        ClaimId id = new ClaimId(new ClaimKey("orders", "A-1"), PARKED.claimId());

        assertThat(operations.releaseParked(PARKED)).isTrue();
        assertThat(operations.completeParked(PARKED, "done")).isTrue();
        assertThat(operations.completeParked(PARKED, null)).isTrue();

        assertThat(parked.asked)
                .containsExactly(
                        id, new ClaimResolution.Completed(id, "\"done\""), new ClaimResolution.Completed(id, null));
    }

    @Test
    void operatorIsToldThatAnotherDecisionCameFirst() {
        assertThat(operations.findParked("orders", "A-1")).contains(PARKED);
        parked.isDecided = true;

        assertThat(operations.findParked("orders", "A-1")).isEmpty();
        assertThat(operations.releaseParked(PARKED)).isFalse();
        assertThat(operations.completeParked(PARKED, null)).isFalse();
    }

    @Test
    void resultThatCannotBeKeptDecidesNothing() {
        assertThatIllegalArgumentException().isThrownBy(() -> operations.completeParked(PARKED, "too large"));

        assertThat(parked.asked).isEmpty();
    }

    @Test
    void parkedClaimTellsItsTimeAndNotItsKey() {
        assertThat(PARKED.parkedAt()).hasToString("1970-01-01T00:00:01.500Z");
        assertThat(PARKED.toString()).contains("told to").doesNotContain("A-1");
    }
}
