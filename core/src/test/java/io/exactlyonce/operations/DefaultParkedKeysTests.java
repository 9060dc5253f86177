package io.exactlyonce.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.ParkedClaim;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.result.StoredResults;
import io.exactlyonce.result.TestResults;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DefaultParkedKeysTests {

    private static final ParkedClaim PARKED =
            ParkedClaim.of("orders", "A-1", UUID.randomUUID(), 2, true, "told to", Instant.EPOCH.plusMillis(1_500));

    private static final ParkedClaim LATER =
            ParkedClaim.of("orders", "A-2", UUID.randomUUID(), 1, false, "told to", Instant.EPOCH.plusMillis(1_600));

    /** Lists two parked claims on two pages, and records the requests. */
    private static final class TwoParkedClaims implements ParkedClaims {
        private final List<Object> asked = new ArrayList<>();
        private boolean isDecided;
        private @Nullable ClaimId taken;

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
        public Set<ClaimId> releaseAll(Collection<ClaimId> claims) {
            asked.addAll(claims);
            return isDecided
                    ? Set.of()
                    : claims.stream().filter(claim -> !claim.equals(taken)).collect(Collectors.toSet());
        }

        @Override
        public Set<ClaimId> completeAll(Collection<ClaimResolution.Completed> completions) {
            asked.addAll(completions);
            return isDecided
                    ? Set.of()
                    : completions.stream()
                            .map(ClaimResolution.Completed::claim)
                            .filter(claim -> !claim.equals(taken))
                            .collect(Collectors.toSet());
        }
    }

    private static final ClaimId ID = new ClaimId(new ClaimKey("orders", "A-1"), PARKED.claimId());
    private static final ClaimId LATER_ID = new ClaimId(new ClaimKey("orders", "A-2"), LATER.claimId());

    private final TwoParkedClaims parked = new TwoParkedClaims();
    private final AtomicInteger checks = new AtomicInteger();
    private final ParkedKeys keys = new DefaultParkedKeys(
            parked,
            new StoredResults(new TestResults(result -> "\"" + result + "\"", (json, type) -> json), 8),
            checks::incrementAndGet);

    @Test
    void storeIsCheckedBeforeEachOperation() {
        assertThat(keys.list(10)).containsExactly(PARKED);
        assertThat(keys.listAfter(PARKED, 5)).containsExactly(LATER);
        assertThat(keys.find("orders", "A-1")).contains(PARKED);
        assertThat(keys.release(PARKED)).isTrue();
        assertThat(keys.complete(PARKED)).isTrue();
        assertThat(keys.releaseAll(List.of(PARKED))).isEmpty();
        assertThat(keys.completeAll(List.of(PARKED))).isEmpty();

        assertThat(checks).hasValue(7);
        assertThat(parked.asked).startsWith(10, 5);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1_000})
    void pageMayBeAsSmallAndAsLargeAsItsBounds(int limit) {
        assertThat(keys.list(limit)).containsExactly(PARKED);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 1_001})
    void pagesHaveBounds(int limit) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> keys.list(limit))
                .withMessage("limit (%d) must be from 1 to 1000", limit);
    }

    @Test
    void keyThatCannotBeParkedIsRefused() {
        assertThatThrownBy(() -> keys.find("orders", " ")).isInstanceOf(UnusableKeyException.class);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> keys.find("", "A-1"))
                .withMessageContaining("scope");

        assertThat(parked.asked).isEmpty();
    }

    @Test
    void decisionsNameTheClaimThatWasSeen() {
        assertThat(keys.release(PARKED)).isTrue();
        assertThat(keys.complete(PARKED, "done")).isTrue();
        assertThat(keys.complete(PARKED)).isTrue();

        assertThat(parked.asked)
                .containsExactly(
                        ID, new ClaimResolution.Completed(ID, "\"done\""), new ClaimResolution.Completed(ID, null));
    }

    @Test
    void operatorGetsThatAnotherDecisionCameFirst() {
        parked.isDecided = true;

        assertThat(keys.find("orders", "A-1")).isEmpty();
        assertThat(keys.release(PARKED)).isFalse();
        assertThat(keys.complete(PARKED)).isFalse();
        assertThat(keys.releaseAll(List.of(PARKED, LATER))).containsExactly(PARKED, LATER);
        assertThat(keys.completeAll(List.of(PARKED, LATER))).containsExactly(PARKED, LATER);
    }

    @Test
    void decisionsOnManyAreOneCallThatNamesWhatItDidNotDecide() {
        parked.taken = LATER_ID;

        assertThat(keys.releaseAll(List.of(PARKED, LATER))).containsExactly(LATER);
        assertThat(keys.completeAll(List.of(PARKED, LATER))).containsExactly(LATER);

        assertThat(parked.asked)
                .containsExactly(
                        ID,
                        LATER_ID,
                        new ClaimResolution.Completed(ID, null),
                        new ClaimResolution.Completed(LATER_ID, null));
    }

    @Test
    void claimThatIsNamedTwiceIsDecidedOnce() {
        assertThat(keys.releaseAll(List.of(PARKED, PARKED))).isEmpty();

        assertThat(parked.asked).containsExactly(ID);
    }

    @Test
    void decisionsOnManyHaveABound() {
        assertThat(keys.releaseAll(List.of())).isEmpty();
        assertThat(keys.releaseAll(Collections.nCopies(1_000, PARKED))).isEmpty();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> keys.releaseAll(Collections.nCopies(1_001, PARKED)))
                .withMessage("1001 claims are too many for one call; decide on at most 1000 at a time");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> keys.completeAll(Collections.nCopies(1_001, PARKED)))
                .withMessageContaining("at most 1000");

        assertThat(parked.asked).containsExactly(ID);
    }

    @Test
    void resultThatCannotBeKeptDecidesNothing() {
        assertThatIllegalArgumentException().isThrownBy(() -> keys.complete(PARKED, "too large"));

        assertThat(parked.asked).isEmpty();
    }

    @Test
    void parkedClaimHasItsTimeAndNotItsKey() {
        assertThat(PARKED.parkedAt()).hasToString("1970-01-01T00:00:01.500Z");
        assertThat(PARKED.toString()).contains("told to").doesNotContain("A-1");
    }
}
