package io.exactlyonce.benchmarks.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.Reference;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class AllocationsTests {

    private static final int MIB = 1 << 20;

    @Test
    void whatThreadsAllocateIsCountedFromTheBeginOn() throws Exception {
        byte[] earlier = new byte[64 * MIB];
        Reference.reachabilityFence(earlier);
        Allocations allocations = new Allocations();
        CountDownLatch allocated = new CountDownLatch(1);
        CountDownLatch read = new CountDownLatch(1);
        Thread another = new Thread(() -> {
            byte[] bytes = new byte[8 * MIB];
            Reference.reachabilityFence(bytes);
            allocated.countDown();
            await(read);
        });
        another.start();
        byte[] own = new byte[4 * MIB];
        Reference.reachabilityFence(own);
        allocated.await();

        assertThat(allocations.bytes()).isBetween(12L * MIB, 20L * MIB);

        read.countDown();
        another.join();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
