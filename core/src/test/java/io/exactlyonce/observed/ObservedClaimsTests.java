package io.exactlyonce.observed;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.CapturedOutput;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.fingerprint.Content;
import io.exactlyonce.queue.ListenerQueue;
import io.exactlyonce.queue.ScriptedStore;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Interleavings of an observed handler with its claim, and the outcome of each interleaving. */
@ExtendWith(OutputCaptureExtension.class)
class ObservedClaimsTests {

    private static final ListenerQueue ORDERS = new ListenerQueue("fulfilment", "orders");
    private static final Acquired FIRST = new Acquired(1, 1, false);
    private static final Acquired IN_DOUBT = new Acquired(2, 2, true);
    private static final HeldElsewhere HELD = new HeldElsewhere(Duration.ofSeconds(20));

    /** The store records requests, and grants each request unless a test scripts another answer. */
    private final ScriptedStore store = new ScriptedStore();

    private final List<String> seen = new ArrayList<>();

    /** Tasks of {@link #busy} that have not run yet. */
    private final Deque<Runnable> queued = new ArrayDeque<>();

    /** Observed claims whose tasks run at once. */
    private final ObservedClaims claims = claims(Runnable::run, () -> {}, 10);

    /** Observed claims whose tasks run when the test calls {@code work()}. */
    private final ObservedClaims busy = claims(queued::add, () -> {}, 10);

    private boolean isMemoryUsedUp;

    private UUID makeId() {
        if (isMemoryUsedUp) {
            throw new AssertionError("a crash");
        }
        return UUID.randomUUID();
    }

    private ObservedClaims claims(Executor thread, Runnable readiness, int most) {
        ObservationCounter counter = new ObservationCounter() {
            @Override
            public void observed(ListenerQueue queue, ClaimKey key, ObservedOutcome outcome) {
                seen.add(key.key() + " " + outcome.tag());
            }

            @Override
            public void notObserved(ListenerQueue queue, NotObserved reason, @Nullable Throwable failure) {
                seen.add("unobserved " + reason.tag());
            }

            @Override
            public void unavailable(RuntimeException failure) {
                seen.add(String.valueOf(failure.getMessage()));
            }
        };
        return new ObservedClaims(
                store,
                new OutcomePolicy(
                        new ClaimSettings("worker", null, null, MismatchPolicy.REFUSE, this::makeId),
                        new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5))),
                readiness,
                List.of(counter),
                thread,
                most);
    }

    private static ObservedRun run(String key) {
        return run(key, "payload of " + key);
    }

    private static ObservedRun run(String key, String body) {
        return new ObservedRun(
                ORDERS,
                new ClaimKey("orders", key),
                0,
                Content.ofBody(body),
                VisibilityWindow.ofSeconds(40),
                MismatchPolicy.AS_CONFIGURED);
    }

    private ObservedRun begin(String key) {
        return begin(claims, key);
    }

    private static ObservedRun begin(ObservedClaims instance, String key) {
        ObservedRun run = run(key);
        instance.begin(run);
        return run;
    }

    private void end(ObservedRun run) {
        claims.ended(run, null);
    }

    private void work() {
        while (!queued.isEmpty()) {
            queued.remove().run();
        }
    }

    private void answer(ClaimOutcome... outcomes) {
        Stream.of(outcomes).forEach(outcome -> store.onClaim(() -> outcome));
    }

    private static ClaimOutcome refuseConnection() {
        throw new IllegalStateException("connection refused");
    }

    private void loseCompletion() {
        store.onComplete(asked -> Set.of());
    }

    private List<String> completed() {
        return store.completions().stream()
                .map(resolution -> resolution.claim().key().key())
                .toList();
    }

    private void assertNothingIsInProgress() {
        assertThat(claims.pending()).isZero();
        assertThat(busy.pending()).isZero();
        claims.close();
    }

    @Test
    void handlerThatSucceedsCompletesItsKey() {
        ObservedRun run = begin("o1");
        ClaimRequest asked = store.claims().get(0);
        assertThat(asked.lease()).isEqualTo(Duration.ofSeconds(40));
        assertThat(asked.fingerprint()).isEqualTo(ClaimKey.sha256("payload of o1"));
        assertThat(asked.inDoubt()).isEqualTo(ClaimRequest.InDoubt.TAKE_OVER);
        assertThat(store.completions()).isEmpty();

        end(run);

        assertThat(store.completions()).containsExactly(new ClaimResolution.Completed(asked.id(), null));
        assertThat(seen).containsExactly("o1 alone");
        assertNothingIsInProgress();
    }

    @Test
    void handlerThatFailsReleasesItsKeyWithItsOwnExceptionsType() {
        ObservedRun run = begin("o1");

        claims.ended(run, new IllegalStateException("wrapper", new UnsupportedOperationException("card 4711")));

        ClaimId claim = store.claims().get(0).id();
        assertThat(store.releases())
                .containsExactly(
                        new ClaimResolution.Released(claim, UnsupportedOperationException.class.getName(), false));
        claims.ended(begin("o2"), new IllegalStateException(new InterruptedException()));
        assertThat(store.releases()).last().matches(ClaimResolution.Released::inDoubt, "in doubt");
        assertNothingIsInProgress();
    }

    @Test
    void endIsRecordedOnlyWhenTheClaimIsAnswered() {
        busy.ended(begin(busy, "o1"), null);
        store.onClaim(() -> {
            assertThat(store.completions()).isEmpty();
            return FIRST;
        });

        work();

        assertThat(completed()).containsExactly("o1");
        assertThat(seen).containsExactly("o1 alone");
    }

    static Stream<Arguments> whatHoldsNothing() {
        return Stream.of(
                Arguments.of(new AlreadyCompleted(null), "duplicate"),
                Arguments.of(new Mismatch(null), "mismatch"),
                Arguments.of(HELD, "overlap"),
                Arguments.of(new HeldElsewhere(Duration.ofSeconds(20), true), "mismatch"),
                Arguments.of(new Parked(), "parked"));
    }

    @ParameterizedTest
    @MethodSource("whatHoldsNothing")
    void whatEnforcingWouldNotHaveCalledIsReportedAndRecordsNothing(ClaimOutcome outcome, String told) {
        answer(outcome);

        end(begin("o1"));

        assertThat(seen).containsExactly("o1 " + told);
        assertThat(store.completions()).isEmpty();
        assertNothingIsInProgress();
    }

    /**
     * The first handler crashes between its claim and its completion. The lease expires, and the next delivery takes
     * the key over.
     */
    @Test
    void keyOfAHandlerThatVanishedIsATakeoverAndCompletedByItsSuccessor() {
        answer(IN_DOUBT);

        end(begin("o1"));

        assertThat(seen).containsExactly("o1 takeover");
        assertThat(completed()).containsExactly("o1");
        assertNothingIsInProgress();
    }

    /**
     * An observed handler may outlive its lease, because nothing renews the lease. SQS redelivers the message to the
     * same instance.
     */
    @Test
    void handlerThatOutlivesItsLeaseIsNoTakeoverWhereItIsKnownToRun() {
        answer(FIRST, IN_DOUBT);
        ObservedRun slow = begin("o1");
        ObservedRun again = begin("o1");

        loseCompletion();
        end(slow);
        end(again);

        assertThat(seen).containsExactly("o1 alone", "o1 overlap");
        assertNothingIsInProgress();
    }

    /**
     * An observed handler may outlive its lease, because nothing renews the lease. SQS redelivers the message to
     * another instance, which reports a takeover.
     */
    @Test
    void handlerWhoseKeyWasTakenOverElsewhereWhileItRanIsAnOverlap() {
        ObservedRun slow = begin("o1");

        loseCompletion();
        end(slow);

        assertThat(seen).containsExactly("o1 alone", "o1 overlap");
        assertNothingIsInProgress();
    }

    @Test
    void duplicateThatBeganWhileTheFirstWasRunningIsAnOverlapThoughTheFirstHasCompletedMeanwhile() {
        ObservedRun slow = begin(busy, "o1");
        work();
        ObservedRun again = begin(busy, "o1");
        busy.ended(slow, null);
        busy.ended(again, null);
        answer(new AlreadyCompleted(null));

        work();

        assertThat(seen).containsExactly("o1 alone", "o1 overlap");
        assertNothingIsInProgress();
    }

    /** A claim that is sent before the release would find the key still held by the failed handler. */
    @Test
    void redeliveryAfterAFailureIsRequestedWhenTheFailureIsOnRecord() {
        busy.ended(begin(busy, "o1"), new IllegalStateException());
        ObservedRun again = begin(busy, "o1");
        answer(FIRST);
        store.onClaim(() -> {
            assertThat(store.releases()).hasSize(1);
            return new Acquired(2, 2, false);
        });

        work();

        busy.ended(again, null);
        work();
        assertThat(seen).containsExactly("o1 alone", "o1 alone");
        assertNothingIsInProgress();
    }

    @Test
    void handlersThatComeTogetherShareTheirCallsOfTheStore() {
        for (int order = 1; order <= 5; order++) {
            busy.ended(begin(busy, "o" + order), null);
        }

        work();

        assertThat(store.claimCalls()).isEqualTo(1);
        assertThat(store.completionCalls()).isEqualTo(1);
        assertThat(completed()).containsExactly("o1", "o2", "o3", "o4", "o5");
        assertNothingIsInProgress();
    }

    @Test
    void claimWhoseReplyIsLostIsRepeatedAndFindsItself() {
        store.onClaim(ObservedClaimsTests::refuseConnection);
        answer(FIRST);

        end(begin("o1"));

        assertThat(store.claims()).hasSize(2);
        assertThat(store.claims().get(1)).isEqualTo(store.claims().get(0));
        assertThat(seen).containsExactly("o1 alone");
        assertNothingIsInProgress();
    }

    /**
     * The store may have recorded a claim that got no answer. If the store did not record the claim, its completion
     * changes nothing.
     */
    @Test
    void handlerWithoutAnAnswerIsUnobservedAndCompletesItsClaimNevertheless() {
        store.failClaims(true);
        ObservedRun run = begin("o1");
        assertThat(store.claims()).hasSize(2);
        assertThat(seen).hasSize(2).contains("unobserved store");

        loseCompletion();
        end(run);

        assertThat(store.completions().get(0).claim())
                .isEqualTo(store.claims().get(0).id());
        assertThat(seen).hasSize(2);
        assertNothingIsInProgress();
    }

    /** Two different bodies under one key are not duplicates. A listener that enforces would refuse the second body. */
    @Test
    void overlapOfAnotherPayloadIsAMismatch() {
        answer(FIRST, IN_DOUBT);
        begin("o1");
        claims.begin(run("o1", "another payload"));
        store.onClaim(ObservedClaimsTests::refuseConnection);
        store.onClaim(ObservedClaimsTests::refuseConnection);
        claims.begin(run("o1", "yet another payload"));
        answer(new AlreadyCompleted(null));
        claims.begin(run("o1", "payload of o1"));

        assertThat(seen).containsExactly("o1 alone", "o1 mismatch", "connection refused", "o1 mismatch", "o1 mismatch");
    }

    @Test
    void listenersOwnSettingsHoldForItsClaims() {
        OutcomePolicy usual = policy("worker", null, MismatchPolicy.REFUSE);
        OutcomePolicy policy = new OutcomePolicy(
                usual.terms(),
                usual.backoff(),
                Map.of("fulfilment", policy("worker", Duration.ofMinutes(2), MismatchPolicy.OFF)));

        new ObservedClaims(store, policy, () -> {}, List.of(), Runnable::run, 1).begin(run("o1"));

        assertThat(store.claims()).singleElement().satisfies(asked -> {
            assertThat(asked.lease()).isEqualTo(Duration.ofMinutes(2));
            assertThat(asked.fingerprint()).isNull();
        });
    }

    private static OutcomePolicy policy(String owner, @Nullable Duration lease, MismatchPolicy onMismatch) {
        return new OutcomePolicy(
                new ClaimSettings(owner, lease, null, onMismatch, UUID::randomUUID),
                new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5)));
    }

    @Test
    void overlapWithinThisInstanceIsKnownWithoutTheStore() {
        ObservedRun slow = begin("o1");
        store.onClaim(ObservedClaimsTests::refuseConnection);
        store.onClaim(ObservedClaimsTests::refuseConnection);
        ObservedRun beside = begin("o1");

        assertThat(seen).containsExactly("o1 alone", "connection refused", "o1 overlap");
        end(slow);
        loseCompletion();
        end(beside);
        assertThat(seen).hasSize(3);
        assertNothingIsInProgress();
    }

    @Test
    void endThatGetsNoAnswerIsReportedAndNotRepeatedForever() {
        ObservedRun run = begin("o1");
        store.onComplete(asked -> Set.of(refuse()));
        store.onComplete(asked -> Set.of(refuse()));

        end(run);

        assertThat(store.completions()).hasSize(2);
        assertThat(seen).containsExactly("o1 alone", "connection refused", "unobserved outcome");
        assertNothingIsInProgress();
    }

    private static ClaimId refuse() {
        throw new IllegalStateException("connection refused");
    }

    @Test
    void endsWithoutAnAnswerAreSeparatedFromTheirNeighbours() {
        ObservedRun first = begin(busy, "o1");
        ObservedRun second = begin(busy, "o2");
        ObservedRun third = begin(busy, "o3");
        work();
        ClaimId lost = store.claims().get(1).id();
        ClaimId locked = store.claims().get(2).id();
        store.onComplete(asked -> Set.of(store.claims().get(0).id()));
        store.lock(locked);
        seen.clear();

        List.of(first, second, third).forEach(run -> busy.ended(run, null));
        work();

        assertThat(lost).isNotEqualTo(locked);
        assertThat(seen).containsExactly("o2 overlap", "unobserved outcome");
        assertNothingIsInProgress();
    }

    /** An observed listener starts without waiting for the database. */
    @Test
    void storeIsProvedDuringStartupAndUntilItCanBeUsed() {
        Deque<String> failures = new ArrayDeque<>(List.of("away", "away", "no table", "no table"));
        ObservedClaims unready = claims(
                queued::add,
                () -> {
                    if (!failures.isEmpty()) {
                        throw new IllegalStateException(failures.remove());
                    }
                },
                10);

        unready.observing(ORDERS);
        assertThat(failures).hasSize(4);
        work();
        assertThat(seen).containsExactly("away");

        begin(unready, "o1");
        work();
        assertThat(store.claims()).isEmpty();
        begin(unready, "o2");
        work();
        assertThat(seen).containsExactly("away", "no table", "unobserved store", "o2 alone");
    }

    /**
     * A limit on the number of bodies is not enough: while the store hangs, 5,000 bodies of 1 MiB would fill the
     * memory.
     */
    @Test
    void bodiesThatWaitForTheirClaimsTakeRoomByTheirLength() {
        ObservedRun large = new ObservedRun(
                ORDERS,
                new ClaimKey("orders", "o1"),
                70_000,
                Content.ofBody("body"),
                VisibilityWindow.ofSeconds(40),
                MismatchPolicy.OFF);
        busy.begin(large);
        assertThat(busy.pending()).isEqualTo(9);
        begin(busy, "o2");
        begin(busy, "o3");
        assertThat(seen).containsExactly("unobserved overload");

        work();

        assertThat(busy.pending()).isEqualTo(2);
    }

    @Test
    void whatComesBeyondTheBoundIsCountedAndNotRequested() {
        List<ObservedRun> runs = new ArrayList<>();
        for (int order = 1; order <= 12; order++) {
            runs.add(begin("o" + order));
        }

        assertThat(store.claims()).hasSize(10);
        assertThat(seen).hasSize(12).endsWith("unobserved overload", "unobserved overload");
        assertThat(claims.pending()).isEqualTo(10);
        runs.forEach(this::end);
        assertThat(completed()).hasSize(10);
        begin("o13");
        assertThat(store.claims()).hasSize(11);
    }

    /** A store or a log may block the observer's thread, and must not block the handler's thread. */
    @Test
    void handlersThreadDoesNothingButQueue() {
        ObservedRun run = run("o1");
        busy.begin(run);
        busy.ended(run, null);

        assertThat(store.claims()).isEmpty();
        assertThat(seen).isEmpty();
        assertThat(queued).hasSize(2);
    }

    @Test
    void handlersThreadDoesNotRecordTheEndEither() {
        ObservedRun run = begin(busy, "o1");
        work();

        busy.ended(run, null);

        assertThat(store.completions()).isEmpty();
        work();
        assertThat(store.completions()).hasSize(1);
    }

    /** The simulated crash is an AssertionError. The library treats an OutOfMemoryError in the same way. */
    @Test
    void crashCostsTheRunsInProgressAndNoLaterHandlerOfTheKey(CapturedOutput output) {
        isMemoryUsedUp = true;
        ObservedRun crashed = run("o1");
        claims.begin(crashed);
        isMemoryUsedUp = false;
        assertThat(output).contains("Observing crashed");

        end(crashed);
        end(begin("o1"));

        assertThat(seen).containsExactly("o1 alone");
        assertThat(completed()).containsExactly("o1");
        assertNothingIsInProgress();
    }

    @Test
    void stopWaitsForRecordsOnTheirWayAndNoLongerThanItMay(CapturedOutput output) {
        busy.ended(begin(busy, "ended"), null);
        begin(busy, "never ends");

        busy.close(Duration.ofMillis(20));

        assertThat(output).contains("the outcomes of up to 2 observed handlers are not recorded");
        claims.close();
        assertThat(output.getOut().split("are not recorded", -1)).hasSize(2);
    }
}
