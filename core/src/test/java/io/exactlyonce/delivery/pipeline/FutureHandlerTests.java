package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.Reconciliation;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.delivery.ClaimSpec;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import io.exactlyonce.delivery.InDoubtPolicy;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FutureHandlerTests {

    /** Notes how often it is cancelled, and ends by that only if it is told to. */
    private static class Work extends CompletableFuture<Object> {
        private final boolean stubborn;
        private int cancellations;

        Work(boolean stubborn) {
            this.stubborn = stubborn;
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            cancellations++;
            return !stubborn && super.cancel(mayInterruptIfRunning);
        }
    }

    private final DeliveryRig rig = new DeliveryRig();
    private final Delivery delivery = rig.receive();
    private final Work work = new Work(false);
    private final List<Runnable> completions = new ArrayList<>();
    private final List<Runnable> cancellations = new ArrayList<>();

    @BeforeEach
    void recordOnThreadsOfTheStores() {
        rig.storeThreads = completions::add;
    }

    @AfterEach
    void noInterruptIsLeftBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void claimIsRenewedUntilTheFutureHasEndedAndThenCompletedWithItsValue() throws Throwable {
        CompletableFuture<Object> recorded = process(claim -> work);

        rig.tickFor(Duration.ofSeconds(45));
        assertThat(rig.store.renewals()).hasSizeGreaterThan(2);
        assertThat(recorded).isNotDone();
        assertThat(delivery.left()).isNotDone();
        assertThat(rig.store.completions()).isEmpty();

        work.complete("charged");
        assertThat(rig.store.completions())
                .as("recording does not block the thread that completes the future")
                .isEmpty();
        assertThat(delivery.left()).isNotDone();
        runAll(completions);

        assertThat(recorded).isCompletedWithValue("charged");
        assertThat(delivery.left()).isDone();
        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), "\"charged\""));
        assertThat(rig.handled).containsExactly(Duration.ofSeconds(45));
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void methodThatIsInterruptedAndReturnsAFailedFutureLeavesADoubt() {
        assertThatThrownBy(() -> process(claim -> {
                    Thread.currentThread().interrupt();
                    delivery.stopHandler();
                    assertThat(Thread.interrupted()).isTrue();
                    return CompletableFuture.failedFuture(new IOException("gave up"));
                }))
                .isInstanceOf(IOException.class);
        runAll(completions);

        assertThat(rig.store.releases()).singleElement().matches(ClaimEnd.Released::ambiguous);
    }

    @Test
    void futureThatHasEndedWhenItsMethodReturnsIsRecordedBehindIt() throws Throwable {
        work.complete("charged");

        assertThat(process(claim -> work)).isCompletedWithValue("charged");
        runAll(completions);

        assertThat(delivery.left()).isDone();
        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), "\"charged\""));
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void claimIsRenewedWhileItsCompletionWaitsForAThread() throws Throwable {
        process(claim -> work);
        work.complete("charged");

        rig.tickFor(Duration.ofSeconds(45));
        runAll(completions);

        assertThat(rig.store.renewals()).hasSizeGreaterThan(2);
        assertThat(rig.store.completions()).hasSize(1);
    }

    @Test
    void failedFutureReleasesTheClaimAndReturnsTheDelivery() throws Throwable {
        IOException failure = new IOException("payment provider is down");
        CompletableFuture<Object> recorded = process(claim -> work.thenApply(value -> value));

        work.completeExceptionally(failure);
        runAll(completions);

        assertThat(failureOf(recorded)).isSameAs(failure);
        assertThat(rig.store.releases())
                .containsExactly(
                        new ClaimEnd.Released(claimed(), "java.io.IOException: payment provider is down", false));
        assertThat(rig.store.completions()).isEmpty();
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void wrappedFailureStillParksItsKey() throws Throwable {
        InDoubtPolicy parking = new InDoubtPolicy(AbandonedPolicy.RERUN, null, List.of(IOException.class));
        process(delivery, parking, claim -> work.thenApply(value -> value));

        work.completeExceptionally(new IOException("unknown address"));
        runAll(completions);

        assertThat(rig.store.parkings()).hasSize(1);
        assertThat(rig.store.releases()).isEmpty();
    }

    @Test
    void exceptionBeforeAFutureReleasesTheClaim() {
        assertThatThrownBy(() -> process(claim -> {
                    throw new IOException("payment provider is down");
                }))
                .isInstanceOf(IOException.class);

        assertThat(delivery.left()).isNotDone();
        runAll(completions);
        assertThat(rig.store.releases()).hasSize(1);
        assertThat(rig.handled).hasSize(1);
        assertThat(delivery.left()).isDone();
    }

    @Test
    void lostClaimCancelsTheFutureOnceOnAThreadOfItsOwn() throws Throwable {
        CompletableFuture<Object> recorded = process(claim -> work);

        rig.loseLease();
        assertThat(work.cancellations)
                .as("the thread that renews is not held up")
                .isZero();
        delivery.stopHandler();
        runAll(cancellations);
        runAll(completions);

        assertThat(work.cancellations).isOne();
        assertThat(failureOf(recorded)).isInstanceOf(CancellationException.class);
        assertThat(rig.store.completions()).isEmpty();
    }

    /** An ordinary future has ended by then, but not its work, perhaps. */
    @Test
    void claimOfACancelledFutureIsNotReleasedButLeftToItsLease() throws Throwable {
        CompletableFuture<Object> recorded = process(claim -> work);

        delivery.stopHandler();
        runAll(cancellations);
        runAll(completions);

        assertThat(recorded).isCompletedExceptionally();
        assertThat(rig.store.releases()).isEmpty();
        rig.tickFor(Duration.ofSeconds(45));
        assertThat(rig.store.renewals()).isEmpty();
    }

    @Test
    void claimIsReleasedInDoubtWhenAFutureEndsOnlyAfterItsWorkHasStopped() throws Throwable {
        Work stubborn = new Work(true);
        CompletableFuture<Object> recorded = process(claim -> stubborn);

        delivery.stopHandler();
        runAll(cancellations);
        assertThat(stubborn.cancellations).isOne();
        assertThat(completions).isEmpty();
        assertThat(rig.store.releases()).isEmpty();
        stubborn.completeExceptionally(new IOException("stopped"));
        runAll(completions);

        assertThat(recorded).isCompletedExceptionally();
        assertThat(rig.store.releases())
                .containsExactly(
                        new ClaimEnd.Released(claimed(), "stopped from outside: java.io.IOException: stopped", true));
    }

    @Test
    void futureThatEndsInSpiteOfACancellationIsCompleted() throws Throwable {
        Work stubborn = new Work(true);
        process(claim -> stubborn);

        delivery.stopHandler();
        runAll(cancellations);
        stubborn.complete("charged");
        runAll(completions);

        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.deliveries().settle(delivery)).isTrue();
    }

    @Test
    void crashBehindAFutureIsAnsweredAndLeavesItsClaimToItsLease() throws Throwable {
        rig.whenHandled = () -> {
            throw new StackOverflowError("simulated");
        };
        CompletableFuture<Object> ended = process(claim -> work);

        work.complete("charged");

        assertThat(failureOf(ended)).hasRootCauseInstanceOf(StackOverflowError.class);
        assertThat(delivery.left()).isDone();
        assertThat(completions).isEmpty();
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).isEmpty();
    }

    @Test
    void futureThatHasEndedIsNotCancelled() throws Throwable {
        process(claim -> work);
        work.complete("charged");

        delivery.stopHandler();

        assertThat(cancellations).isEmpty();
    }

    @Test
    void claimThatIsLostBeforeTheMethodReturnsInterruptsItAndCancelsWhatItReturns() throws Throwable {
        process(claim -> {
            rig.loseLease();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            return work;
        });
        runAll(cancellations);

        assertThat(work.cancellations).isOne();
    }

    @Test
    void timeoutCancelsTheFuture() throws Throwable {
        Delivery limited = rig.receiveLimited(Duration.ofSeconds(5));
        process(limited, InDoubtPolicy.RERUN, claim -> work);

        rig.tickFor(Duration.ofSeconds(4));
        assertThat(cancellations).isEmpty();
        rig.tickFor(Duration.ofSeconds(2));
        runAll(cancellations);

        assertThat(work.cancellations).isOne();
    }

    @Test
    void futureThatNeverEndsLosesItsClaimAtTheCeiling() throws Throwable {
        process(claim -> work);

        rig.tickFor(Duration.ofHours(12));

        assertThat(cancellations).hasSize(1);
    }

    @Test
    void claimAnswersAnyThreadUntilTheCompletionIsRecorded() throws Throwable {
        AtomicReference<Claim> seen = new AtomicReference<>();
        process(claim -> {
            seen.set(claim);
            return work;
        });

        CompletableFuture.runAsync(() -> seen.get().ensureHeld()).join();
        work.complete("charged");
        runAll(completions);

        assertThatThrownBy(() -> seen.get().ensureHeld()).isInstanceOf(ClaimLostException.class);
    }

    @Test
    void refusedCompletionLosesTheClaim() throws Throwable {
        rig.store.onComplete(requested -> Set.of());
        process(claim -> work);

        work.complete("charged");
        runAll(completions);

        assertThat(rig.lost).containsExactly(rig.orders);
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).isEmpty();
    }

    /** The effect may have happened: neither release the key nor expose the message. */
    @Test
    void futureThatEndsAfterTheApplicationHasStoppedIsLeftToItsLease() throws Throwable {
        CompletableFuture<Object> ended = process(claim -> work);
        rig.storeThreads = task -> {
            throw new RejectedExecutionException("stopped");
        };
        delivery.abandon();

        work.complete("charged");

        assertThat(ended).isCompletedWithValue("charged");
        assertThat(delivery.left()).isDone();
        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).isEmpty();
    }

    /** The JDK's own stages are futures that throw when they are asked or cancelled. */
    @Test
    void stageThatCanBeNeitherAskedNorCancelledIsStoppedLikeAnyFuture() throws Throwable {
        CompletionStage<Object> stage = work.minimalCompletionStage();
        CompletableFuture<Object> recorded = process(claim -> stage);

        delivery.abandon();
        runAll(cancellations);
        runAll(completions);

        assertThat(failureOf(recorded)).isInstanceOf(CancellationException.class);
        assertThat(delivery.left()).isDone();
        assertThat(rig.store.releases())
                .as("its work may go on, so that its claim is left to its lease")
                .isEmpty();
    }

    @Test
    void handlersOfClaimsThatAreLostTogetherAreStoppedAlthoughOneOfThemReturnedSuchAStage() throws Throwable {
        CompletionStage<Object> stage = new Work(false).minimalCompletionStage();
        process(claim -> stage);
        process(rig.receive(rig.orders, "another handle", 1), InDoubtPolicy.RERUN, claim -> work);

        rig.loseLease();
        runAll(cancellations);

        assertThat(work.cancellations).isOne();
    }

    /** That its handler has returned a stage is all that is known: its work goes on. */
    @Test
    void claimOfAStageThatCannotBeWaitedForIsNotReleasedButLeftToItsLease() {
        Object deaf = Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {CompletionStage.class}, (stage, method, arguments) -> {
                    throw new UnsupportedOperationException("no callbacks");
                });

        assertThatThrownBy(() -> process(claim -> deaf)).hasMessageContaining("no callbacks");
        runAll(completions);

        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.store.completions()).isEmpty();
        assertThat(delivery.left()).isDone();
        assertThat(rig.deliveries().settle(delivery)).isFalse();
        assertThat(rig.returns()).containsExactly(4);
    }

    @Test
    void reconcilersResultIsCompletedWithoutAFuture() throws Throwable {
        rig.store.onClaim(() -> new Acquired(2, 2, true));
        InDoubtPolicy asking = new InDoubtPolicy(
                AbandonedPolicy.RECONCILE, (listener, scope, claim) -> Reconciliation.done("charged"), List.of());

        CompletableFuture<Object> recorded = process(delivery, asking, DeliveryRig::neverCalled);
        runAll(completions);

        assertThat(recorded).isCompletedWithValue("charged");
        assertThat(rig.store.completions()).hasSize(1);
    }

    @Test
    void handlerOfAClaimThatEndedWhileItsReconcilerLookedIsNotCalled() {
        rig.store.onClaim(() -> new Acquired(2, 2, true));
        InDoubtPolicy asking = new InDoubtPolicy(
                AbandonedPolicy.RECONCILE,
                (listener, scope, claim) -> {
                    rig.clock.advance(Duration.ofSeconds(25));
                    return Reconciliation.runAgain();
                },
                List.of());

        assertThatThrownBy(() -> process(delivery, asking, DeliveryRig::neverCalled))
                .isInstanceOf(ClaimLostException.class);
        runAll(completions);

        assertThat(rig.store.releases())
                .containsExactly(new ClaimEnd.Released(claimed(), "the handler was not called", false));
        assertThat(delivery.left()).isDone();
    }

    /** Three seconds of work, and a store that is away or a pool that is busy: that is no timeout of the handler's. */
    @Test
    void timeoutEndsWithTheFutureAlthoughItsCompletionWaitsForAThread() throws Throwable {
        Delivery limited = rig.receiveLimited(Duration.ofSeconds(10));
        process(limited, InDoubtPolicy.RERUN, claim -> work);
        rig.tickFor(Duration.ofSeconds(3));

        work.complete("charged");
        rig.tickFor(Duration.ofSeconds(40));

        assertThat(rig.timedOut).isEmpty();
        assertThat(rig.store.renewals()).hasSize(4);
        runAll(completions);
        assertThat(rig.store.completions()).containsExactly(new ClaimEnd.Completed(claimed(), "\"charged\""));
        assertThat(rig.deliveries().settle(limited)).isTrue();
    }

    /** That its future has ended says nothing: it was this delivery that cancelled it. */
    @Test
    void workThatMayGoOnAfterItsTimeoutIsRenewedNoMoreWhileItsEndWaitsForAThread() throws Throwable {
        Delivery limited = rig.receiveLimited(Duration.ofSeconds(5));
        process(limited, InDoubtPolicy.RERUN, claim -> work);
        rig.tickFor(Duration.ofSeconds(6));

        runAll(cancellations);
        rig.tickFor(Duration.ofSeconds(60));

        assertThat(work).isCancelled();
        assertThat(rig.store.renewals()).isEmpty();
        runAll(completions);
        assertThat(rig.store.releases()).isEmpty();
    }

    @Test
    void stoppedListenersDeliveryIsNotBegun() {
        delivery.abandon();

        assertThatThrownBy(() -> process(DeliveryRig::neverCalled))
                .isInstanceOf(CancellationException.class)
                .hasMessageStartingWith(delivery + " was not begun");
        assertThat(rig.store.claims()).isEmpty();
    }

    private CompletableFuture<Object> process(DeliveryRig.SingleHandler handler) throws Throwable {
        return process(delivery, InDoubtPolicy.RERUN, handler);
    }

    @SuppressWarnings("unchecked") // What a handler's future has as its result may be anything.
    private CompletableFuture<Object> process(Delivery received, InDoubtPolicy doubt, DeliveryRig.SingleHandler handler)
            throws Throwable {
        Executor recording = rig.storeThreads;
        rig.storeThreads = Runnable::run;
        DeliveryPipeline pipeline = rig.pipeline(cancellations::add);
        List<Delivery> attempts = List.of(DeliveryRig.asking(received, new ClaimSpec(DeliveryRig.KEY, null, doubt)));
        pipeline.claim(attempts).join();
        rig.storeThreads = recording;
        Object answer = pipeline.handle(attempts, handler);
        CompletableFuture<Object> future = answer instanceof CompletableFuture<?> returned
                ? (CompletableFuture<Object>) returned
                : CompletableFuture.completedFuture(answer);
        if (future.isCompletedExceptionally()) {
            throw failureOf(future);
        }
        return future;
    }

    private ClaimId claimed() {
        return rig.store.claims().get(0).id();
    }

    private static Throwable failureOf(CompletableFuture<?> future) {
        AtomicReference<Throwable> seen = new AtomicReference<>();
        future.whenComplete((result, failure) -> seen.set(failure));
        return seen.get();
    }

    private static void runAll(List<Runnable> tasks) {
        List<Runnable> due = List.copyOf(tasks);
        tasks.clear();
        due.forEach(Runnable::run);
    }
}
