package io.exactlyonce.sighting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.AsyncClaimStore;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Mismatch;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.time.Timer;
import io.exactlyonce.visibility.FakeTimer;
import io.exactlyonce.visibility.VisibilityWindow;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The interleavings of a handler, its claim and their ends. */
@ExtendWith(OutputCaptureExtension.class)
class ObservedClaimsTests {

    private static final ObservedQueue ORDERS = new ObservedQueue("fulfilment", "orders");
    private static final Acquired FIRST = new Acquired(1, 1, false);
    private static final Acquired IN_DOUBT = new Acquired(2, 2, true);
    private static final HeldElsewhere HELD = new HeldElsewhere(Duration.ofSeconds(20));

    private final AnsweredStore store = new AnsweredStore();
    private final FakeTimer timer = new FakeTimer();
    private final List<String> seen = new ArrayList<>();
    private final ObservedClaims claims = claims(store, Runnable::run, 10);

    private ObservedClaims claims(AsyncClaimStore asked, Executor thread, int most) {
        return claims(asked, thread, timer, most);
    }

    private ObservedClaims claims(AsyncClaimStore asked, Executor thread, Timer timer, int most) {
        SightingObserver observer = new SightingObserver() {
            @Override
            public void sighted(ObservedQueue queue, ClaimKey key, Sighting sighting) {
                seen.add(key.key() + " " + sighting.tag());
            }

            @Override
            public void unobserved(ObservedQueue queue, Unobserved reason, @Nullable Throwable failure) {
                seen.add("unobserved " + reason.tag());
            }
        };
        return new ObservedClaims(asked, new ClaimSettings("worker", null), List.of(observer), thread, timer, most);
    }

    private Observation begin(String key) {
        return claims.begin(ORDERS, message(key));
    }

    private static ObservedMessage message(String key) {
        return new ObservedMessage(
                new ClaimKey("orders", key), () -> "payload of " + key, VisibilityWindow.ofSeconds(40));
    }

    private void assertNothingIsUnderWay() {
        assertThat(claims.underWay()).isZero();
        claims.close();
    }

    @Test
    void handlerThatSucceedsCompletesItsKey() {
        Observation run = begin("o1");
        ClaimRequest asked = store.claims.get(0).asked();
        assertThat(asked.lease()).isEqualTo(Duration.ofSeconds(40));
        assertThat(asked.fingerprint()).isEqualTo(ClaimKey.sha256("payload of o1"));
        assertThat(asked.inDoubt()).isEqualTo(ClaimRequest.InDoubt.TAKE_OVER);
        store.answer(0, FIRST);
        assertThat(store.ends).isEmpty();

        run.ended(null);

        assertThat(store.ends).hasSize(1);
        assertThat(store.ends.get(0).asked()).isEqualTo(new ClaimEnd.Completed(asked.id(), null));
        store.record(0);
        assertThat(seen).containsExactly("o1 alone");
        assertNothingIsUnderWay();
    }

    @Test
    void handlerThatFailsReleasesItsKeyWithItsOwnExceptionsType() {
        Observation run = begin("o1");
        store.answer(0, FIRST);

        run.ended(new IllegalStateException("wrapper", new UnsupportedOperationException("card 4711")));

        ClaimId claim = store.claims.get(0).asked().id();
        assertThat(store.ends.get(0).asked())
                .isEqualTo(new ClaimEnd.Released(claim, UnsupportedOperationException.class.getName(), false));
        store.record(0);
        assertNothingIsUnderWay();
    }

    @Test
    void handlerThatWasInterruptedLeavesADoubt() {
        Observation run = begin("o1");
        store.answer(0, FIRST);

        run.ended(new IllegalStateException(new InterruptedException()));

        assertThat(store.ends.get(0).asked().ambiguous()).isTrue();
    }

    /** Otherwise the one thread that observes would follow it for ever. */
    @Test
    @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void handlerThatFailsWithACircleOfCausesReleasesItsKey() {
        Observation run = begin("o1");
        store.answer(0, FIRST);
        var outer = new IllegalStateException("outer");
        outer.initCause(new UnsupportedOperationException("inner", outer));

        run.ended(outer);

        assertThat(store.ends.get(0).asked()).isInstanceOf(ClaimEnd.Released.class);
        assertThat(store.ends.get(0).asked().ambiguous()).isFalse();
        store.record(0);
        assertNothingIsUnderWay();
    }

    @Test
    void endIsRecordedOnlyWhenTheClaimIsAnswered() {
        Observation run = begin("o1");
        run.ended(null);
        assertThat(store.ends).isEmpty();

        store.answer(0, FIRST);

        assertThat(store.ends).hasSize(1);
    }

    @Test
    void endThatIsToldTwiceCountsOnce() {
        Observation run = begin("o1");
        store.answer(0, FIRST);

        run.ended(null);
        run.ended(new IllegalStateException());

        assertThat(store.ends).hasSize(1);
        assertThat(store.ends.get(0).asked()).isInstanceOf(ClaimEnd.Completed.class);
    }

    static Stream<Arguments> whatHoldsNothing() {
        return Stream.of(
                Arguments.of(new AlreadyCompleted(null), "duplicate"),
                Arguments.of(new Mismatch(null), "mismatch"),
                Arguments.of(HELD, "overlap"),
                Arguments.of(new Parked(), "parked"));
    }

    @ParameterizedTest
    @MethodSource("whatHoldsNothing")
    void whatEnforcingWouldNotHaveCalledIsToldAndRecordsNothing(ClaimOutcome outcome, String told) {
        Observation run = begin("o1");
        store.answer(0, outcome);

        run.ended(null);

        assertThat(seen).containsExactly("o1 " + told);
        assertThat(store.ends).isEmpty();
        assertNothingIsUnderWay();
    }

    /** Crash between claim and completion: the lease ends, and the next delivery takes over. */
    @Test
    void keyOfAHandlerThatVanishedIsATakeoverAndCompletedByItsSuccessor() {
        Observation run = begin("o1");
        store.answer(0, IN_DOUBT);
        run.ended(null);
        store.record(0);

        assertThat(seen).containsExactly("o1 takeover");
        assertNothingIsUnderWay();
    }

    /** Nothing renews the lease of the first; its message comes again here. */
    @Test
    void handlerThatOutlivesItsLeaseIsNoTakeoverWhereItIsKnownToRun() {
        Observation slow = begin("o1");
        store.answer(0, FIRST);
        Observation again = begin("o1");
        store.answer(1, IN_DOUBT);

        slow.ended(null);
        store.lose(0);
        again.ended(null);
        store.record(1);

        assertThat(seen).containsExactly("o1 alone", "o1 overlap");
        assertNothingIsUnderWay();
    }

    /** Nothing renews the lease of the first; its message comes again to another instance, which tells of a takeover. */
    @Test
    void handlerWhoseKeyWasTakenOverElsewhereWhileItRanIsAnOverlap() {
        Observation slow = begin("o1");
        store.answer(0, FIRST);

        slow.ended(null);
        store.lose(0);

        assertThat(seen).containsExactly("o1 alone", "o1 overlap");
        assertNothingIsUnderWay();
    }

    @Test
    void handlerThatWasOverlappedHereAndTakenOverElsewhereIsToldOfBoth() {
        Observation slow = begin("o1");
        store.answer(0, FIRST);
        Observation beside = begin("o1");
        store.answer(1, HELD);
        beside.ended(null);

        slow.ended(null);
        store.lose(0);

        assertThat(seen).containsExactly("o1 alone", "o1 overlap", "o1 overlap");
        assertNothingIsUnderWay();
    }

    @Test
    void duplicateThatBeganWhileTheFirstWasRunningIsAnOverlapThoughTheFirstHasCompletedMeanwhile() {
        Observation slow = begin("o1");
        store.answer(0, FIRST);
        Observation again = begin("o1");
        slow.ended(null);
        store.record(0);
        store.answer(1, new AlreadyCompleted(null));
        again.ended(null);

        assertThat(seen).containsExactly("o1 alone", "o1 overlap");
        assertNothingIsUnderWay();
    }

    @Test
    void refusedMessagesAreToldAsSuchThoughAnotherHandlerRuns() {
        begin("o1");
        begin("o1");
        begin("o1");

        store.answer(1, new Mismatch(null));
        store.answer(2, new Parked());

        assertThat(seen).containsExactly("o1 mismatch", "o1 parked");
    }

    /** Otherwise the release that is on its way would look like a handler that holds the key. */
    @Test
    void redeliveryAfterAFailureIsAskedForWhenTheFailureIsOnRecord() {
        Observation failed = begin("o1");
        failed.ended(new IllegalStateException());
        Observation again = begin("o1");
        assertThat(store.claims).hasSize(1);
        store.answer(0, FIRST);
        assertThat(store.claims).hasSize(1);

        store.record(0);

        assertThat(store.claims).hasSize(2);
        store.answer(1, new Acquired(2, 2, false));
        again.ended(null);
        store.record(1);
        assertThat(seen).containsExactly("o1 alone", "o1 alone");
        assertNothingIsUnderWay();
    }

    @Test
    void thirdDeliveryAwaitsTheRecordsOfAllThatHaveEnded() {
        Observation first = begin("o1");
        Observation second = begin("o1");
        store.answer(0, FIRST);
        store.answer(1, IN_DOUBT);
        first.ended(null);
        second.ended(null);
        begin("o1");
        store.record(1);
        assertThat(store.claims).hasSize(2);

        store.lose(0);

        assertThat(store.claims).hasSize(3);
    }

    @Test
    void claimWhoseReplyIsLostIsRepeatedAndFindsItself() {
        Observation run = begin("o1");
        store.claims.get(0).answer().completeExceptionally(new IllegalStateException("connection reset"));

        assertThat(store.claims).hasSize(2);
        assertThat(store.claims.get(1).asked()).isEqualTo(store.claims.get(0).asked());
        store.answer(1, FIRST);
        run.ended(null);
        store.record(0);
        assertThat(seen).containsExactly("o1 alone");
        assertNothingIsUnderWay();
    }

    /** The claim may stand though it got no answer; a completion that names it does no harm if it does not. */
    @Test
    void handlerWithoutAnAnswerIsUnobservedAndCompletesItsClaimNevertheless() {
        timer.hold();
        Observation run = begin("o1");
        failAllClaims();
        assertThat(seen).containsExactly("unobserved store");

        run.ended(null);

        assertThat(store.ends.get(0).asked().claim())
                .isEqualTo(store.claims.get(0).asked().id());
        store.lose(0);
        assertThat(seen).containsExactly("unobserved store");
        assertNothingIsUnderWay();
    }

    private void failAllClaims() {
        for (int call = 0; call < store.claims.size(); call++) {
            store.claims.get(call).answer().completeExceptionally(new IllegalStateException("connection refused"));
            timer.run();
        }
        assertThat(store.claims).hasSize(2);
    }

    @Test
    void overlapWithinThisInstanceIsKnownWithoutTheStore() {
        timer.hold();
        Observation slow = begin("o1");
        store.answer(0, FIRST);
        Observation beside = begin("o1");
        for (int call = 1; call < store.claims.size(); call++) {
            store.claims.get(call).answer().completeExceptionally(new IllegalStateException("connection refused"));
            timer.run();
        }

        assertThat(seen).containsExactly("o1 alone", "o1 overlap");
        slow.ended(null);
        beside.ended(null);
        store.record(0);
        store.lose(1);
        assertNothingIsUnderWay();
    }

    @Test
    void endThatGetsNoAnswerIsToldAndNotRepeatedForEver() {
        timer.hold();
        Observation run = begin("o1");
        store.answer(0, FIRST);
        run.ended(null);
        for (int call = 0; call < store.ends.size(); call++) {
            store.ends.get(call).answer().completeExceptionally(new IllegalStateException("connection refused"));
            timer.run();
        }

        assertThat(store.ends).hasSize(5);
        assertThat(timer.delays())
                .containsExactly(
                        Duration.ofMillis(200),
                        Duration.ofMillis(400),
                        Duration.ofMillis(800),
                        Duration.ofMillis(1_600));
        assertThat(seen).containsExactly("o1 alone", "unobserved outcome");
        assertNothingIsUnderWay();
    }

    @Test
    void requestThatCanNeverBeStoredIsNotRepeated() {
        begin("o1");
        store.claims.get(0).answer().completeExceptionally(new IllegalArgumentException("too long"));

        assertThat(store.claims).hasSize(1);
        assertThat(seen).containsExactly("unobserved store");
    }

    @Test
    void payloadThatCannotBeReadGivesItsRoomBackAndDisturbsNoLaterHandlerOfItsKey() {
        Observation unreadable = claims.begin(
                ORDERS,
                new ObservedMessage(
                        new ClaimKey("orders", "o1"),
                        () -> {
                            throw new IllegalStateException("no JSON");
                        },
                        VisibilityWindow.ofSeconds(30)));
        assertThat(seen).containsExactly("unobserved store");
        assertThat(claims.underWay()).isZero();

        Observation next = begin("o1");
        unreadable.ended(null);
        store.answer(0, FIRST);
        next.ended(null);
        store.record(0);

        assertThat(seen).containsExactly("unobserved store", "o1 alone");
        assertNothingIsUnderWay();
    }

    /** A body may have 1 MiB, and thousands of claims wait for a database that is away. */
    @Test
    void bodyIsInMemoryOnlyUntilItsClaimIsAskedFor() {
        List<WeakReference<String>> bodies = new ArrayList<>();
        Observation run = beginWithABody(bodies);

        assertThat(store.claims).hasSize(1);
        await().until(() -> {
            System.gc();
            return bodies.get(0).get() == null;
        });
        run.ended(null);
        assertThat(claims.underWay()).isEqualTo(1);
    }

    private Observation beginWithABody(List<WeakReference<String>> bodies) {
        String body = "body of ".concat("o1");
        bodies.add(new WeakReference<>(body));
        return claims.begin(
                ORDERS, new ObservedMessage(new ClaimKey("orders", "o1"), () -> body, VisibilityWindow.ofSeconds(40)));
    }

    @Test
    void whatComesBeyondTheBoundIsCountedAndNotAskedFor() {
        List<Observation> runs = new ArrayList<>();
        for (int order = 1; order <= 12; order++) {
            runs.add(begin("o" + order));
        }

        assertThat(store.claims).hasSize(10);
        assertThat(seen).containsExactly("unobserved overload", "unobserved overload");
        assertThat(claims.underWay()).isEqualTo(10);
        runs.forEach(run -> run.ended(null));
        store.answer(0, new AlreadyCompleted(null));
        begin("o13");
        assertThat(store.claims).hasSize(11);
    }

    /** A thread that is stuck in a store, or a log, that blocks. */
    @Test
    void handlersThreadDoesNothingButQueue() {
        Deque<Runnable> queued = new ArrayDeque<>();
        ObservedClaims stuck = claims(store, queued::add, 10);

        Observation run = stuck.begin(
                ORDERS,
                new ObservedMessage(
                        new ClaimKey("orders", "o1"),
                        () -> {
                            throw new AssertionError("Read on the handler's thread");
                        },
                        VisibilityWindow.ofSeconds(30)));
        run.ended(null);

        assertThat(store.claims).isEmpty();
        assertThat(seen).isEmpty();
        assertThat(queued).hasSize(1);
    }

    @Test
    void handlersThreadDoesNotRecordTheEndEither() {
        Deque<Runnable> queued = new ArrayDeque<>();
        ObservedClaims busy = claims(store, queued::add, 10);
        Observation run = busy.begin(ORDERS, message("o1"));
        queued.remove().run();
        store.answer(0, FIRST);
        queued.remove().run();

        run.ended(null);

        assertThat(store.ends).isEmpty();
        queued.remove().run();
        assertThat(store.ends).hasSize(1);
    }

    @Test
    void threadThatCannotBeStartedCostsTheObservationAndNothingElse() {
        ObservedClaims threadless = claims(
                store,
                task -> {
                    throw new RejectedExecutionException("no thread");
                },
                10);

        threadless.begin(ORDERS, message("o1")).ended(null);

        assertThat(seen).containsExactly("unobserved store");
        assertThat(threadless.underWay()).isZero();
    }

    /** A constant for a key, by mistake, while the store does not answer: one waits for the other, thousands deep. */
    @Test
    void thousandsOfRunsOfOneKeyEndOneAfterTheOther() {
        CompletableFuture<List<ClaimOutcome>> first = new CompletableFuture<>();
        AtomicInteger asked = new AtomicInteger();
        AsyncClaimStore slow = new AsyncClaimStore() {
            @Override
            public CompletableFuture<List<ClaimOutcome>> claimAsync(List<ClaimRequest> requests) {
                return asked.getAndIncrement() == 0
                        ? first
                        : CompletableFuture.completedFuture(List.of(new AlreadyCompleted(null)));
            }

            @Override
            public CompletableFuture<Set<ClaimId>> endAsync(List<? extends ClaimEnd> ends) {
                return CompletableFuture.completedFuture(Set.of(ends.get(0).claim()));
            }
        };
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (ObservedClaims many = claims(slow, thread, ObservedClaims.MOST_UNDER_WAY)) {
            for (int run = 0; run < ObservedClaims.MOST_UNDER_WAY; run++) {
                many.begin(ORDERS, message("constant")).ended(null);
            }
            assertThat(many.underWay()).isEqualTo(ObservedClaims.MOST_UNDER_WAY);

            first.complete(List.of(FIRST));

            await().until(() -> many.underWay() == 0);
            assertThat(asked).hasValue(ObservedClaims.MOST_UNDER_WAY);
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void stopWaitsForRecordsOnTheirWayAndNoLongerThanItMay(CapturedOutput output) {
        begin("running").ended(null);
        begin("never ends");
        store.answer(0, FIRST);

        claims.close(Duration.ofMillis(20));

        assertThat(output).contains("how up to 2 observed handlers ended is not on record");
        store.record(0);
        claims.close();
        assertThat(output.getAll().split("is not on record", -1)).hasSize(2);
    }

    @Test
    void stopOnAThreadThatIsInterruptedDoesNotWait() {
        begin("o1").ended(null);
        Thread.currentThread().interrupt();

        claims.close();

        assertThat(Thread.interrupted()).isTrue();
    }
}
