package io.exactlyonce.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.fingerprint.Content;
import io.exactlyonce.observed.ObservationCounter;
import io.exactlyonce.observed.ObservedClaims;
import io.exactlyonce.observed.ObservedOutcome;
import io.exactlyonce.observed.ObservedRun;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests two instances that observe and one that enforces. All three share one store and its clock. */
class ObservedInMemoryTests {

    private static final Duration LEASE = Duration.ofSeconds(30);

    private final InMemoryClaimStore store = new InMemoryClaimStore();
    private final List<String> seen = new ArrayList<>();
    private final ObservedClaims here = instance("here");
    private final ObservedClaims there = instance("there");

    private ObservedClaims instance(String name) {
        ObservationCounter counter = new ObservationCounter() {
            @Override
            public void observed(ListenerQueue queue, ClaimKey key, ObservedOutcome outcome) {
                seen.add(name + " " + outcome.tag());
            }
        };
        return new ObservedClaims(
                store,
                new OutcomePolicy(
                        new ClaimSettings(name, null), new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5))),
                () -> {},
                List.of(counter),
                Runnable::run,
                10);
    }

    /** A running handler of one of the instances. */
    private record Handler(ObservedClaims instance, ObservedRun run) {

        void ended(@Nullable Throwable failure) {
            instance.ended(run, failure);
        }
    }

    private static Handler begin(ObservedClaims instance, String body) {
        ObservedRun run = new ObservedRun(
                new ListenerQueue("fulfilment", "orders"),
                new ClaimKey("orders", "o1"),
                body.length(),
                Content.ofBody(body),
                new VisibilityWindow(LEASE),
                MismatchPolicy.AS_CONFIGURED);
        instance.begin(run);
        return new Handler(instance, run);
    }

    private static Handler begin(ObservedClaims instance) {
        return begin(instance, "body");
    }

    @Test
    void otherBodyUnderAKeyThatAnotherInstanceIsHandlingIsAMismatch() {
        begin(here);
        begin(there);
        begin(there, "another body");

        assertThat(seen).containsExactly("here alone", "there overlap", "there mismatch");
    }

    @Test
    void duplicateIsSeenByAnyInstanceAndMismatchesAreDistinguished() {
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
        Handler slow = begin(here);
        Handler beside = begin(there);
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
    void handlerThatOutlivesItsLeaseElsewhereIsReportedByBothInstances() {
        Handler slow = begin(here);
        store.advance(LEASE);
        Handler again = begin(there);

        slow.ended(null);
        again.ended(null);

        assertThat(seen).containsExactly("here alone", "there takeover", "here overlap");
    }

    @Test
    void handlerThatOutlivesItsLeaseHereIsAnOverlapOnce() {
        Handler slow = begin(here);
        store.advance(LEASE);
        Handler again = begin(here);

        slow.ended(null);
        again.ended(null);

        assertThat(seen).containsExactly("here alone", "here overlap");
    }

    @Test
    void handlerThatOutlivesItsLeaseWithoutARedeliveryStillCompletesItsKey() {
        Handler slow = begin(here);
        store.advance(LEASE.multipliedBy(10));
        slow.ended(null);
        begin(there).ended(null);

        assertThat(seen).containsExactly("here alone", "there duplicate");
    }

    @Test
    void instanceThatEnforcesHonoursWhatWasObservedAsCompleted() {
        begin(here).ended(null);

        assertThat(store.claim(List.of(new ClaimRequest(
                        new ClaimId(new ClaimKey("orders", "o1"), UUID.randomUUID()),
                        "enforcing",
                        LEASE,
                        ClaimRequest.InDoubt.PARK,
                        ClaimKey.sha256("body")))))
                .containsExactly(new AlreadyCompleted(null));
    }

    /** Observe mode parks no key, because the key would still be parked when enforcement starts. */
    @Test
    void doubtIsNeverParked() {
        begin(here).ended(new IllegalStateException(new InterruptedException()));
        begin(there).ended(null);

        assertThat(seen).containsExactly("here alone", "there takeover");
        assertThat(store.list(null, 10)).isEmpty();
    }
}
