package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CancellationTests {

    private final Cancellation run = new Cancellation();

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    @Test
    void interruptReachesTheThreadInsideTheHandler() {
        run.stop();

        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(run.wasStopped()).isTrue();
    }

    @Test
    void secondInterruptIsNotSent() {
        run.stop();
        Thread.interrupted();
        run.stop();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void closeTakesBackAnInterruptThatTheHandlerDidNotNotice() {
        run.stop();
        run.close();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(run.wasStopped()).isTrue();
    }

    @Test
    void interruptAfterCloseDoesNotReachTheThread() {
        run.close();
        run.stop();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(run.wasStopped()).isFalse();
    }

    @Test
    void closeLeavesAnInterruptOfTheApplication() {
        Thread.currentThread().interrupt();
        run.close();

        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }

    @Test
    void workMayGoOnOnlyIfItsFutureWasCancelledByUs() {
        CompletableFuture<Object> work = new CompletableFuture<>();
        run.close();
        run.goOn(work, Runnable::run, (result, failure) -> {});
        assertThat(run.mayGoOn(new CancellationException("by the application"))).isFalse();

        run.stop();

        assertThat(work).isCancelled();
        assertThat(run.mayGoOn(new CancellationException())).isTrue();
        assertThat(run.mayGoOn(new IllegalStateException("it heeded that"))).isFalse();
    }

    /** It would be taken for a success. */
    @Test
    void failureThatHasNoCauseIsAFailure() {
        AtomicReference<Throwable> told = new AtomicReference<>();
        CompletionException bare = new CompletionException((Throwable) null);

        run.goOn(CompletableFuture.failedFuture(bare), Runnable::run, (result, failure) -> told.set(failure));

        assertThat(told).hasValue(bare);
    }
}
