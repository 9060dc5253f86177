package io.exactlyonce.claim.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimStoreBusyException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class TurnsTests {

    private final Turns turns = new Turns();

    @Test
    void callsRunOneAfterTheOther() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicInteger running = new AtomicInteger();
        CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> turns.alone(() -> {
            running.incrementAndGet();
            begun.countDown();
            awaitOrFail(mayEnd);
            return running.getAndDecrement();
        }));
        awaitOrFail(begun);
        AtomicReference<Thread> waiting = new AtomicReference<>();
        CompletableFuture<Integer> second = CompletableFuture.supplyAsync(() -> {
            waiting.set(Thread.currentThread());
            return turns.alone(running::incrementAndGet);
        });
        while (!second.isDone() && (waiting.get() == null || waiting.get().getState() != Thread.State.TIMED_WAITING)) {
            Thread.onSpinWait();
        }
        mayEnd.countDown();

        assertThat(first.get(10, TimeUnit.SECONDS)).isEqualTo(1);
        assertThat(second.get(10, TimeUnit.SECONDS)).isEqualTo(1);
    }

    @Test
    void callThatFailsEndsItsTurn() {
        assertThatThrownBy(() -> turns.alone(() -> {
                    throw new IllegalStateException("no answer");
                }))
                .hasMessage("no answer");

        assertThat(turns.alone(() -> 7)).isEqualTo(7);
    }

    @Test
    void interruptedThreadMakesNoCallAndStaysInterrupted() {
        AtomicInteger calls = new AtomicInteger();
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> turns.alone(calls::incrementAndGet))
                .isInstanceOf(ClaimStoreBusyException.class)
                .hasMessageContaining("Interrupted before");

        assertThat(Thread.interrupted()).isTrue();
        assertThat(calls).hasValue(0);
        assertThat(turns.alone(() -> 7)).isEqualTo(7);
    }

    private static void awaitOrFail(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }
}
