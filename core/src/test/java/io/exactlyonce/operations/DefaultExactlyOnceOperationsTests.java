package io.exactlyonce.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.assertj.core.api.Assertions.tuple;

import io.exactlyonce.ExactlyOnceOperations.OnceCall;
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
import io.exactlyonce.delivery.StoredResults;
import io.exactlyonce.delivery.TestResults;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.ParameterizedTypeReference;

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
            checks::incrementAndGet);

    @Test
    void doubtsAreRunAgainUnlessTheCallerWantsThemParked() {
        operations.once("orders", "A-1").run(claim -> {});
        operations.once("orders", "A-2").parkInDoubt().run(claim -> {});

        assertThat(rig.store.claims())
                .extracting(ClaimRequest::inDoubt)
                .containsExactly(InDoubt.TAKE_OVER, InDoubt.PARK);
    }

    @Test
    void contentIsComparedOnlyIfTheCallerNamesIt() {
        operations.once("orders", "A-1").comparing("body").run(claim -> {});
        operations.once("orders", "A-2").run(claim -> {});

        assertThat(rig.store.claims())
                .extracting(ClaimRequest::fingerprint)
                .containsExactly(ClaimKey.sha256("body"), null);
    }

    /** A call may be kept and used again, with and without what is added to it. */
    @Test
    void callIsNotChangedByWhatIsAddedToIt() {
        OnceCall<RuntimeException> call = operations.once("orders", "A-1");

        call.comparing("body").parkInDoubt().run(claim -> {});
        call.run(claim -> {});

        assertThat(rig.store.claims())
                .extracting(ClaimRequest::fingerprint, ClaimRequest::inDoubt)
                .containsExactly(tuple(ClaimKey.sha256("body"), InDoubt.PARK), tuple(null, InDoubt.TAKE_OVER));
    }

    /** The compiler demands that the caller names or catches it. */
    @Test
    void checkedExceptionOfTheActionReachesItsCaller() {
        IOException failure = new IOException("provider is down");

        try {
            operations.once("orders", "A-1").throwing(IOException.class).run(claim -> {
                throw failure;
            });
            fail("The action's failure did not reach its caller");
        } catch (IOException thrown) {
            assertThat(thrown).isSameAs(failure);
        }
        rig.assertReleased("java.io.IOException: provider is down");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\0b"})
    void scopesAndKeysThatCannotBeStoredAreRefused(String text) {
        assertThatThrownBy(() -> operations.once("orders", text)).isInstanceOf(InvalidKeyException.class);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operations.once(text, "A-1"))
                .withMessageContaining("scope");

        assertThat(rig.store.claims()).isEmpty();
    }

    @Test
    void storeIsCheckedBeforeEachOperation() {
        operations.once("orders", "A-1").run(claim -> {});
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
        assertThat(operations.once("orders", "A-1").call(String.class, claim -> "done"))
                .isEqualTo("done");
        assertThat(operations
                        .once("orders", "A-2")
                        .call(ParameterizedTypeReference.forType(String.class), claim -> "done, too"))
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
