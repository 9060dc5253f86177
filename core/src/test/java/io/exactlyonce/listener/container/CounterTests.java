package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CounterTests {

    private static final Duration FOR_EVER = Duration.ofMinutes(10);

    private static final int ROUNDS = 20_000;

    private final AtomicInteger ended = new AtomicInteger();
    private final Counter counter = new Counter(new AtomicInteger());
    private final ExecutorService threads = Executors.newSingleThreadExecutor();

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    /**
     * One thread begins to wait for zero in each round, while another thread lowers the count. The pause before the
     * decrement varies, so the wait begins before, during or after the decrement.
     */
    @Test
    @Timeout(60)
    void threadThatBeginsToWaitMissesNoChange() throws Exception {
        AtomicInteger latestRound = new AtomicInteger();
        Future<Integer> waiter = threads.submit(() -> {
            int awaited = 0;
            while (awaited < ROUNDS) {
                while (latestRound.get() == awaited) {
                    Thread.yield();
                }
                assertThat(counter.awaitAtMost(0, FOR_EVER)).isTrue();
                awaited++;
                ended.set(awaited);
            }
            return awaited;
        });
        for (int round = 1; round <= ROUNDS; round++) {
            counter.add(1);
            latestRound.set(round);
            for (int pause = round % 64; pause > 0; pause--) {
                Thread.onSpinWait();
            }
            counter.add(-1);
            while (ended.get() < round && !waiter.isDone()) {
                yieldUnlessInterrupted();
            }
        }

        assertThat(waiter.get()).isEqualTo(ROUNDS);
    }

    /** JUnit's timeout interrupts the test's thread, and the loop must then stop. */
    private static void yieldUnlessInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("The waiting thread missed a change");
        }
        Thread.yield();
    }
}
