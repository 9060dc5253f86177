package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CompletionLifecycleTests {

    private final CompletionLifecycle completions = new CompletionLifecycle(2);

    @AfterEach
    void stop() {
        completions.stop();
    }

    @Test
    void nothingIsRecordedUnlessTheApplicationRuns() {
        assertThatThrownBy(() -> completions.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        completions.start();
        completions.stop();
        assertThatThrownBy(() -> completions.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void threadsAreDaemonsOfItsOwnAndCanBeHadAgainAfterARestart() {
        completions.start();
        completions.stop();
        completions.start();
        CompletableFuture<Thread> seen = new CompletableFuture<>();

        completions.execute(() -> seen.complete(Thread.currentThread()));

        assertThat(seen.join().getName()).startsWith("exactly-once-completion-");
        assertThat(seen.join().isDaemon()).isTrue();
    }

    @Test
    void threadsAreBoundedAndWhatWaitsIsDone() {
        completions.start();
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        for (int task = 0; task < 10; task++) {
            completions.execute(() -> {
                begun.incrementAndGet();
                awaitQuietly(go);
                ended.incrementAndGet();
            });
        }

        await().until(() -> begun.get() == 2);
        go.countDown();
        await().until(() -> ended.get() == 10);
    }

    /** Its handler's effect has happened. */
    @Test
    void completionThatIsUnderWayIsNotInterruptedByTheStopAndThenNoThreadIsLeft() {
        completions.start();
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<Boolean> undisturbed = new CompletableFuture<>();
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        completions.execute(() -> {
            thread.complete(Thread.currentThread());
            undisturbed.complete(awaitQuietly(go));
        });
        thread.join();

        completions.stop();
        go.countDown();

        assertThat(undisturbed.join()).isTrue();
        await().until(() -> !thread.join().isAlive());
    }

    private static boolean awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
            return true;
        } catch (InterruptedException disturbed) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
