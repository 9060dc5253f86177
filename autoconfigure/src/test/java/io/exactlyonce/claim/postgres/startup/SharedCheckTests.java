package io.exactlyonce.claim.postgres.startup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who waits for whose check. */
@Timeout(30)
class SharedCheckTests {

    private final CountDownLatch answer = new CountDownLatch(1);
    private final AtomicInteger runs = new AtomicInteger();
    private final SharedCheck slow = new SharedCheck(() -> {
        runs.incrementAndGet();
        try {
            answer.await();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("broken off", stop);
        }
    });

    @AfterEach
    void answerAtLast() {
        answer.countDown();
    }

    @Test
    void checkThatPassesIsMadeOnceForAll() throws Exception {
        Caller first = new Caller();
        Caller second = new Caller();
        assertThat(slow.hasPassed()).isFalse();

        answer.countDown();

        assertThat(first.failure()).isNull();
        assertThat(second.failure()).isNull();
        slow.require();
        assertThat(slow.hasPassed()).isTrue();
        assertThat(runs).hasValue(1);
    }

    @Test
    void checkWhoseThreadHasToStopIsMadeByAnotherThatWaits() throws Exception {
        Caller first = new Caller();
        Caller second = new Caller();

        first.thread.interrupt();

        assertThat(first.failure()).hasMessage("broken off");
        await().until(() -> runs.get() == 2);
        answer.countDown();
        assertThat(second.failure()).isNull();
    }

    @Test
    void threadThatHasToStopDoesNotWaitForAnothersCheck() throws Exception {
        Caller first = new Caller();
        Caller second = new Caller();

        second.thread.interrupt();

        assertThat(second.failure()).hasMessageContaining("Interrupted while it waited");
        answer.countDown();
        assertThat(first.failure()).isNull();
        assertThat(runs).hasValue(1);
    }

    @Test
    void checkThatFailedIsMadeAgainForTheNext() {
        SharedCheck failing = new SharedCheck(() -> {
            throw new IllegalStateException("run " + runs.incrementAndGet());
        });

        assertThatThrownBy(failing::require).hasMessage("run 1");
        assertThatThrownBy(failing::require).hasMessage("run 2");
        assertThat(failing.hasPassed()).isFalse();
    }

    /** Waits, for the check or in it, when the constructor returns. */
    private final class Caller {

        private final FutureTask<@Nullable Throwable> call = new FutureTask<>(() -> catchThrowable(slow::require));
        private final Thread thread = new Thread(call);

        Caller() {
            thread.start();
            await().until(() -> thread.getState() == Thread.State.WAITING);
        }

        @Nullable Throwable failure() throws Exception {
            return call.get();
        }
    }
}
