package io.exactlyonce.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.coalescing.ExecutorClaimStore;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.sighting.Observation;
import io.exactlyonce.sighting.ObservedClaims;
import io.exactlyonce.sighting.ObservedMessage;
import io.exactlyonce.sighting.ObservedQueue;
import io.exactlyonce.sighting.Sighting;
import io.exactlyonce.sighting.SightingObserver;
import io.exactlyonce.time.Timer;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Two instances that observe, and one that enforces, on one store and its clock. */
class ObservedInMemoryTests {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Timer NEVER = (delay, task) -> {
        throw new AssertionError("The store answers at once");
    };

    private final InMemoryClaimStore store = new InMemoryClaimStore();
    private final List<String> seen = new ArrayList<>();
    private final ObservedClaims here = instance("here");
    private final ObservedClaims there = instance("there");

    private ObservedClaims instance(String name) {
        SightingObserver observer = new SightingObserver() {
            @Override
            public void sighted(ObservedQueue queue, ClaimKey key, Sighting sighting) {
                seen.add(name + " " + sighting.tag());
            }
        };
        return new ObservedClaims(
                new ExecutorClaimStore(store, Runnable::run),
                new ClaimSettings(name, null),
                List.of(observer),
                Runnable::run,
                NEVER,
                10);
    }

    private static Observation begin(ObservedClaims instance, String body) {
        return instance.begin(
                new ObservedQueue("fulfilment", "orders"),
                new ObservedMessage(new ClaimKey("orders", "o1"), () -> body, new VisibilityWindow(LEASE)));
    }

    private static Observation begin(ObservedClaims instance) {
        return begin(instance, "body");
    }

    @Test
    void duplicateIsSeenByAnyInstanceAndMismatchesAreToldApart() {
        begin(here).ended(null);
        begin(there).ended(null);
        begin(here).ended(new IllegalStateException());
        begin(there, "another body").ended(null);

        assertThat(seen).containsExactly("here alone", "there duplicate", "here duplicate", "there mismatch");
    }

    @Test
    void handlerThatFailsLeavesItsKeyToTheNext() {
        begin(here).ended(new IllegalStateException());
        begin(there).ended(null);

        assertThat(seen).containsExactly("here alone", "there alone");
    }

    @Test
    void overlapWithinTheLeaseIsSeenByTheSecond() {
        Observation slow = begin(here);
        Observation beside = begin(there);
        beside.ended(null);
        slow.ended(null);

        assertThat(seen).containsExactly("here alone", "there overlap");
    }

    @Test
    void keyOfAnInstanceThatDiedIsTakenOverWhenItsLeaseIsOver() {
        begin(here);
        store.advance(LEASE);
        begin(there).ended(null);
        begin(there).ended(null);

        assertThat(seen).containsExactly("here alone", "there takeover", "there duplicate");
    }

    @Test
    void handlerThatOutlivesItsLeaseElsewhereIsToldByBothInstances() {
        Observation slow = begin(here);
        store.advance(LEASE);
        Observation again = begin(there);

        slow.ended(null);
        again.ended(null);

        assertThat(seen).containsExactly("here alone", "there takeover", "here overlap");
    }

    @Test
    void handlerThatOutlivesItsLeaseHereIsAnOverlapOnce() {
        Observation slow = begin(here);
        store.advance(LEASE);
        Observation again = begin(here);

        slow.ended(null);
        again.ended(null);

        assertThat(seen).containsExactly("here alone", "here overlap");
    }

    @Test
    void handlerThatOutlivesItsLeaseWithoutARedeliveryStillCompletesItsKey() {
        Observation slow = begin(here);
        store.advance(LEASE.multipliedBy(10));
        slow.ended(null);
        begin(there).ended(null);

        assertThat(seen).containsExactly("here alone", "there duplicate");
    }

    @Test
    void instanceThatEnforcesHonoursWhatWasObservedAsCompleted() {
        begin(here).ended(null);

        assertThat(store.claim(List.of(new ClaimRequest(
                        new ClaimKey("orders", "o1"),
                        UUID.randomUUID(),
                        "enforcing",
                        LEASE,
                        ClaimRequest.InDoubt.PARK,
                        ClaimKey.sha256("body")))))
                .containsExactly(new AlreadyCompleted(null));
    }

    /** The handler runs anyway: a key that were parked meanwhile would stay so on the day when it is enforced. */
    @Test
    void doubtIsNeverParked() {
        begin(here).ended(new IllegalStateException(new InterruptedException()));
        begin(there).ended(null);

        assertThat(seen).containsExactly("here alone", "there takeover");
        assertThat(store.list(null, 10)).isEmpty();
    }
}
