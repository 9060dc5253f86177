package io.exactlyonce.delivery.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.Claim;
import io.exactlyonce.ClaimLostException;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryRig;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Handlers that return futures. A claim is resolved when its handler's future completes. A stop cancels the future. */
class FutureHandlerTests {

    /** A future that counts its cancellations. A stubborn future does not end when it is cancelled. */
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
    private final Work stubborn = new Work(true);
    private final List<Runnable> completions = new ArrayList<>();
    private final List<Runnable> cancellations = new ArrayList<>();

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
        assertThat(delivery.processed()).isNotDone();

        work.complete("charged");
        assertThat(rig.store.completions())
                .as("recording does not block the thread that completes the future")
                .isEmpty();
        assertThat(delivery.processed()).isNotDone();
        runAll(completions);

        assertThat(recorded).isCompletedWithValue("charged");
        assertThat(delivery.processed()).isDone();
        rig.assertCompleted("\"charged\"");
        assertThat(rig.handled).containsExactly(Duration.ofSeconds(45));
        assertThat(rig.settle(delivery)).isTrue();
    }

    @Test
    void failedFutureReleasesTheClaimAndReturnsTheDelivery() throws Throwable {
        IOException failure = new IOException("payment provider is down");
        CompletableFuture<Object> recorded = process(claim -> work.thenApply(value -> value));

        work.completeExceptionally(failure);
        runAll(completions);

        assertThat(failureOf(recorded)).isSameAs(failure);
        rig.assertReleased("java.io.IOException: payment provider is down");
        rig.assertReturned(delivery, 4);
    }

    /**
     * Startup cannot detect a future within a future, because a method may declare its future without a type argument.
     */
    @Test
    void futureWhoseValueIsAFutureLeavesADoubt() throws Throwable {
        CompletableFuture<Object> recorded = process(claim -> work);

        work.complete(new Work(false));
        runAll(completions);

        assertThat(failureOf(recorded))
                .hasMessageContaining("The handler of listener 'listener' returned " + Work.class.getName());
        rig.assertReleasedInDoubt();
        rig.assertReturned(delivery, 4);
    }

    @Test
    void methodThatIsInterruptedAndReturnsAFailedFutureLeavesADoubt() throws Throwable {
        CompletableFuture<Object> recorded = process(claim -> {
            delivery.stopHandler();
            assertThat(Thread.interrupted()).isTrue();
            return CompletableFuture.failedFuture(new IOException("gave up"));
        });
        runAll(completions);

        assertThat(failureOf(recorded)).isInstanceOf(IOException.class);
        rig.assertReleasedInDoubt();
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

    /** A cancelled future has ended, but its work may continue. */
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
        CompletableFuture<Object> recorded = process(claim -> stubborn);

        delivery.stopHandler();
        runAll(cancellations);
        assertThat(stubborn.cancellations).isOne();
        assertThat(completions).isEmpty();
        stubborn.completeExceptionally(new IOException("stopped"));
        runAll(completions);

        assertThat(recorded).isCompletedExceptionally();
        rig.assertReleasedInDoubt();
    }

    @Test
    void futureThatEndsInSpiteOfACancellationIsCompleted() throws Throwable {
        process(claim -> stubborn);

        delivery.stopHandler();
        runAll(cancellations);
        stubborn.complete("charged");
        runAll(completions);

        assertThat(rig.store.completions()).hasSize(1);
        assertThat(rig.settle(delivery)).isTrue();
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

    /** The future ended only because the delivery cancelled it, so the work may still run. */
    @Test
    void workThatMayContinueAfterItsTimeoutIsRenewedNoMoreWhileItsEndWaitsForAThread() throws Throwable {
        process(rig.receiveLimited(Duration.ofSeconds(5)), claim -> work);
        rig.tickFor(Duration.ofSeconds(6));

        runAll(cancellations);
        rig.tickFor(Duration.ofSeconds(60));

        assertThat(work).isCancelled();
        assertThat(rig.store.renewals()).isEmpty();
        runAll(completions);
        assertThat(rig.store.releases()).isEmpty();
    }

    /**
     * The handler works for three seconds. The wait of its completion for a thread does not count towards the timeout.
     */
    @Test
    void timeoutEndsWithTheFutureAlthoughItsCompletionWaitsForAThread() throws Throwable {
        Delivery limited = rig.receiveLimited(Duration.ofSeconds(10));
        process(limited, claim -> work);
        rig.tickFor(Duration.ofSeconds(3));

        work.complete("charged");
        rig.tickFor(Duration.ofSeconds(40));

        assertThat(rig.timedOut).isEmpty();
        assertThat(rig.store.renewals()).hasSize(4);
        runAll(completions);
        rig.assertCompleted("\"charged\"");
        assertThat(rig.settle(limited)).isTrue();
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

    /** The effect may have happened, so the engine neither releases the key nor returns the message. */
    @Test
    void futureThatEndsAfterTheApplicationHasStoppedIsLeftToItsLease() throws Throwable {
        CompletableFuture<Object> ended = process(claim -> work);
        rig.storeThreads = task -> {
            throw new RejectedExecutionException("stopped");
        };
        delivery.abandon();

        work.complete("charged");

        assertThat(ended).isCompletedWithValue("charged");
        assertThat(delivery.processed()).isDone();
        assertThat(rig.store.releases()).isEmpty();
        rig.assertReturned(delivery);
    }

    /** A minimal stage of the JDK throws an exception when code reads or cancels it. */
    @Test
    void handlersOfClaimsThatAreLostTogetherAreStoppedAlthoughOneOfThemReturnedSuchAStage() throws Throwable {
        CompletableFuture<Object> recorded = process(claim -> new Work(false).minimalCompletionStage());
        process(rig.receive(rig.orders, "another handle", 1), claim -> work);

        rig.loseLease();
        runAll(cancellations);
        runAll(completions);

        assertThat(work.cancellations).isOne();
        assertThat(failureOf(recorded)).isInstanceOf(CancellationException.class);
        assertThat(delivery.processed()).isDone();
        assertThat(rig.store.releases())
                .as("their work may go on, so that their claims are left to their leases")
                .isEmpty();
    }

    /**
     * The stage accepts no callback. The engine cannot detect the end of the stage's work, and the work may still run.
     */
    @Test
    void claimOfAStageThatCannotBeWaitedForIsNotReleasedButLeftToItsLease() throws Throwable {
        Object deaf = Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {CompletionStage.class}, (stage, method, arguments) -> {
                    throw new UnsupportedOperationException("no callbacks");
                });

        assertThat(failureOf(process(claim -> deaf))).hasMessageContaining("no callbacks");
        runAll(completions);

        assertThat(rig.store.releases()).isEmpty();
        assertThat(rig.store.completions()).isEmpty();
        assertThat(delivery.processed()).isDone();
        rig.assertReturned(delivery, 4);
    }

    private CompletableFuture<Object> process(DeliveryRig.SingleHandler handler) throws Throwable {
        return process(delivery, handler);
    }

    /**
     * Acquires the key at once. Later answers of the store wait in {@code completions}, and cancellations of futures
     * wait in {@code cancellations}.
     */
    @SuppressWarnings("unchecked") // A handler's future may have a result of any type.
    private CompletableFuture<Object> process(Delivery received, DeliveryRig.SingleHandler handler) throws Throwable {
        DeliveryPipeline pipeline = rig.pipeline(cancellations::add);
        rig.storeThreads = Runnable::run;
        pipeline.claim(List.of(DeliveryRig.asking(received))).join();
        rig.storeThreads = completions::add;
        return (CompletableFuture<Object>) pipeline.handle(List.of(received), handler);
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
