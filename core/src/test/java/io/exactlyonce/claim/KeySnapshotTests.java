package io.exactlyonce.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.KeySnapshot.Action;
import io.exactlyonce.claim.KeySnapshot.Decision;
import java.time.Duration;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class KeySnapshotTests {

    private static final ClaimKey KEY = new ClaimKey("orders", "A-1");
    private static final UUID HOLDER = new UUID(0, 1);
    private static final UUID OTHER = new UUID(0, 2);
    private static final String ONE = ClaimKey.sha256("one");
    private static final String ANOTHER = ClaimKey.sha256("another");

    /**
     * The inputs of a decision except fingerprints, and the decision that the table of {@link KeySnapshot#decide}
     * expects.
     *
     * @param remaining the rest of the lease in seconds
     * @param own whether the last claim sent the request
     */
    record Case(KeyStatus status, int remaining, boolean own, boolean inDoubt, boolean cleared, InDoubt policy) {

        Action expected() {
            if (own && status == KeyStatus.HELD) {
                return Action.RENEW;
            }
            boolean free = status == KeyStatus.RELEASED || (status == KeyStatus.HELD && remaining <= 0);
            if (!free || own) {
                return Action.REFUSE;
            }
            boolean doubt = inDoubt || status == KeyStatus.HELD;
            return doubt && !cleared && policy == InDoubt.PARK ? Action.PARK : Action.TAKE_OVER;
        }
    }

    static Stream<Case> cases() {
        return Stream.of(KeyStatus.values())
                .flatMap(status -> Stream.of(-1, 0, 1)
                        .flatMap(remaining -> Stream.of(true, false)
                                .flatMap(own -> Stream.of(true, false)
                                        .flatMap(inDoubt -> Stream.of(true, false)
                                                .flatMap(cleared -> Stream.of(InDoubt.values())
                                                        .map(policy -> new Case(
                                                                status, remaining, own, inDoubt, cleared, policy)))))));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void eachRowOfTheTableDecides(Case row) {
        KeySnapshot key = new KeySnapshot(
                row.status(),
                HOLDER,
                3,
                41,
                row.inDoubt(),
                row.cleared(),
                Duration.ofSeconds(row.remaining()),
                77,
                null,
                "1",
                5);

        Decision decision = key.decide(request(row.own() ? HOLDER : OTHER, row.policy(), null));

        assertThat(decision.action()).isEqualTo(row.expected());
        switch (decision.action()) {
            case RENEW -> assertThat(decision.claim()).isEqualTo(new Acquired(3, 41, row.inDoubt(), 5));
            case TAKE_OVER ->
                assertThat(decision.claim())
                        .isEqualTo(new Acquired(4, 77, row.inDoubt() || row.status() == KeyStatus.HELD, 5));
            case PARK -> assertThat(decision.outcome()).isEqualTo(new Parked());
            case REFUSE ->
                assertThat(decision.outcome())
                        .isEqualTo(
                                switch (row.status()) {
                                    case COMPLETED -> new AlreadyCompleted("1");
                                    case PARKED -> new Parked();
                                    case HELD -> new HeldElsewhere(Duration.ofSeconds(1));
                                    case RELEASED -> new HeldElsewhere(Duration.ZERO);
                                });
            case CLAIM_FIRST -> throw new AssertionError("The key is known");
        }
    }

    @Test
    void keyWithoutASnapshotIsClaimedForTheFirstTime() {
        assertThat(Decision.first(7)).isEqualTo(new Decision(Action.CLAIM_FIRST, new Acquired(1, 7, false)));
    }

    @ParameterizedTest
    @CsvSource({
        "HELD, 1, HELD",
        "HELD, 0, FREE",
        "HELD, -1, FREE",
        "RELEASED, 1, FREE",
        "COMPLETED, -1, COMPLETED",
        "PARKED, -1, PARKED"
    })
    void stateIsTheMeaningOfTheStatus(KeyStatus status, int remaining, KeyState.Status state) {
        KeySnapshot key = key(status, remaining, ONE);

        assertThat(key.state()).isEqualTo(new KeyState(state, ONE));
    }

    @ParameterizedTest
    @EnumSource
    void claimHoldsItsKeyOnlyWhileItIsHeld(KeyStatus status) {
        KeySnapshot key = key(status, 0, null);

        assertThat(key.isHeldBy(HOLDER)).isEqualTo(status == KeyStatus.HELD);
        assertThat(key.isHeldBy(OTHER)).isFalse();
    }

    @Test
    void payloadsAreComparedIfBothAreKnown() {
        KeySnapshot known = key(KeyStatus.COMPLETED, 0, ONE);
        KeySnapshot unknown = key(KeyStatus.COMPLETED, 0, null);

        assertThat(refusal(known, ANOTHER)).isEqualTo(new Mismatch("1"));
        assertThat(refusal(known, ONE)).isEqualTo(new AlreadyCompleted("1"));
        assertThat(refusal(known, null)).isEqualTo(new AlreadyCompleted("1"));
        assertThat(refusal(unknown, ONE)).isEqualTo(new AlreadyCompleted("1"));
        assertThat(refusal(key(KeyStatus.HELD, 1, ONE), ANOTHER))
                .isEqualTo(new HeldElsewhere(Duration.ofSeconds(1), true));
    }

    @Test
    void textHasNoResult() {
        assertThat(key(KeyStatus.COMPLETED, 0, null)).hasToString("COMPLETED attempt 3");
    }

    private static ClaimOutcome refusal(KeySnapshot key, @Nullable String fingerprint) {
        return key.decide(request(OTHER, InDoubt.TAKE_OVER, fingerprint)).outcome();
    }

    private static KeySnapshot key(KeyStatus status, int remaining, @Nullable String fingerprint) {
        return new KeySnapshot(
                status, HOLDER, 3, 41, false, false, Duration.ofSeconds(remaining), 77, fingerprint, "1", 5);
    }

    private static ClaimRequest request(UUID claim, InDoubt policy, @Nullable String fingerprint) {
        return new ClaimRequest(new ClaimId(KEY, claim), "worker", Duration.ofSeconds(30), policy, fingerprint);
    }
}
