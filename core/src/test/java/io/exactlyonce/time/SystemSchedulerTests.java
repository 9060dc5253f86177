package io.exactlyonce.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SystemSchedulerTests {

    /** Kotlin throws checked exceptions where Java does not permit them. */
    @Test
    void checkedExceptionEndsNoTicks() throws InterruptedException {
        CountDownLatch twice = new CountDownLatch(2);

        try (EngineScheduler.PeriodicTask ticks = new SystemScheduler().every(Duration.ofMillis(1), "ticks", () -> {
            twice.countDown();
            throwAnyway(new IOException("of a store in Kotlin"));
        })) {
            assertThat(ticks).isNotNull();
            assertThat(twice.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void throwAnyway(Throwable failure) throws T {
        throw (T) failure;
    }
}
