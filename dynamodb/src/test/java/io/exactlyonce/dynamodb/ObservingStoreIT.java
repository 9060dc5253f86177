package io.exactlyonce.dynamodb;

import static io.exactlyonce.dynamodb.Requests.claim;
import static io.exactlyonce.dynamodb.Requests.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.testing.FakeClock;
import io.exactlyonce.dynamodb.testing.StoreOnTable;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Takeovers without a usable clock: an abandoned claim is taken over after it was unchanged for a lease. */
class ObservingStoreIT {

    private static final Duration SHORT = Duration.ofSeconds(1);

    private static final FakeClock CLOCK = new FakeClock();

    static Stream<StoreOnTable> stores() {
        return Stream.of(StoreOnTable.observing(CLOCK), StoreOnTable.withoutDates(CLOCK));
    }

    @ParameterizedTest
    @MethodSource("stores")
    void abandonedKeyIsTakenOverOnceItWasSeenUnchangedForItsLease(StoreOnTable table) {
        ClaimRequest vanished =
                shortRequest(new ClaimKey("orders", UUID.randomUUID().toString()));
        assertThat(claim(table.store(), vanished)).isInstanceOf(Acquired.class);
        assertThat(table.item(vanished.key().downstreamKey()))
                .containsEntry("lease_until", AttributeValue.fromNul(true));

        assertThat(claim(table.store(), shortRequest(vanished.key())))
                .isInstanceOfSatisfying(
                        HeldElsewhere.class,
                        held -> assertThat(held.leaseRemaining()).isPositive().isLessThanOrEqualTo(SHORT));
        assertThat(table.store().peek(Set.of(vanished.key()))).containsEntry(vanished.key(), KeyState.HELD);

        CLOCK.advance(SHORT);
        assertThat(table.store().peek(Set.of(vanished.key()))).containsEntry(vanished.key(), KeyState.HELD);
        CLOCK.advance(SHORT.dividedBy(1000));
        assertThat(table.store().peek(Set.of(vanished.key()))).containsEntry(vanished.key(), KeyState.FREE);
        assertThat(claim(table.store(), request(vanished.key()))).isInstanceOfSatisfying(Acquired.class, acquired -> {
            assertThat(acquired.attempt()).isEqualTo(2);
            assertThat(acquired.inDoubt()).isTrue();
        });
    }

    @ParameterizedTest
    @MethodSource("stores")
    void keyThatIsRenewedIsHeldHoweverLongItIsObserved(StoreOnTable table) {
        ClaimRequest holder =
                shortRequest(new ClaimKey("orders", UUID.randomUUID().toString()));
        claim(table.store(), holder);

        for (int half = 0; half < 6; half++) {
            assertThat(table.store()
                            .renew(List.of(new LeaseRenewal(holder.id(), SHORT)))
                            .granted())
                    .hasSize(1);
            assertThat(table.store().peek(Set.of(holder.key()))).containsEntry(holder.key(), KeyState.HELD);
            CLOCK.advance(SHORT.dividedBy(2));
        }
        assertThat(table.store()
                        .resolve(List.of(new ClaimResolution.Released(holder.id(), "failed", false)))
                        .granted())
                .hasSize(1);
        assertThat(table.store().peek(Set.of(holder.key()))).containsEntry(holder.key(), KeyState.FREE);
    }

    private static ClaimRequest shortRequest(ClaimKey key) {
        return new ClaimRequest(key, UUID.randomUUID(), "worker", SHORT);
    }
}
