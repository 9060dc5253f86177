package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class CancellationTests {

    private final Cancellation run = new Cancellation();

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
