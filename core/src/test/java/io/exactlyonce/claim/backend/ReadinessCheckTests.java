package io.exactlyonce.claim.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.listener.CapturedLog;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ReadinessCheckTests {

    private final AtomicInteger lookUps = new AtomicInteger();
    private final AtomicInteger checks = new AtomicInteger();
    private final CompletableFuture<Thread> checking = new CompletableFuture<>();
    private final AtomicReference<RuntimeException> failure = new AtomicReference<>();

    /** A check waits for this latch. */
    private volatile CountDownLatch mayEnd = new CountDownLatch(0);

    private final ReadinessCheck readiness = new ReadinessCheck(lookUps::incrementAndGet, this::check);

    private void check() {
        checks.incrementAndGet();
        checking.complete(Thread.currentThread());
        try {
            assertThat(mayEnd.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException closing) {
            throw new IllegalStateException("interrupted", closing);
        }
        if (failure.get() != null) {
            throw failure.get();
        }
    }

    /** Returns the thread of the first check, once that has begun. */
    private Thread thread() {
        return checking.orTimeout(10, TimeUnit.SECONDS).join();
    }

    private void awaitEnd() throws InterruptedException {
        thread().join(10_000);
        assertThat(thread().isAlive()).isFalse();
    }

    @Test
    void checkThatPassedIsNotRepeated() {
        assertThat(readiness.hasPassed()).isFalse();

        readiness.require();
        readiness.begin();
        readiness.require();

        assertThat(readiness.hasPassed()).isTrue();
        assertThat(checks).hasValue(1);
        assertThat(lookUps).hasValue(1);
    }

    @Test
    void checkRunsInTheBackgroundAndAllWhoWaitGetItsResult() throws Exception {
        mayEnd = new CountDownLatch(1);

        readiness.begin();
        readiness.begin();
        CompletableFuture<Void> first = CompletableFuture.runAsync(readiness::require);
        CompletableFuture<Void> second = CompletableFuture.runAsync(readiness::require);
        assertThat(readiness.hasPassed()).isFalse();
        mayEnd.countDown();

        CompletableFuture.allOf(first, second).get(10, TimeUnit.SECONDS);
        assertThat(checks).hasValue(1);
        assertThat(thread().isDaemon()).isTrue();
        assertThat(thread().getName()).isEqualTo("exactly-once-start-1");
    }

    @Test
    void checkThatFailedIsRepeatedByTheNextCaller() {
        failure.set(new IllegalStateException("a replica"));

        assertThatThrownBy(readiness::require).isSameAs(failure.get());
        assertThat(readiness.hasPassed()).isFalse();
        failure.set(null);
        readiness.require();

        assertThat(checks).hasValue(2);
        assertThat(readiness.hasPassed()).isTrue();
    }

    @Test
    void storeThatIsMissingIsReportedWithoutACheck() {
        RuntimeException missing = new IllegalStateException("no DataSource");
        ReadinessCheck without = new ReadinessCheck(
                () -> {
                    throw missing;
                },
                this::check);

        assertThatThrownBy(without::require).isSameAs(missing);

        assertThat(checks).hasValue(0);
    }

    @Test
    void failureIsLoggedOnlyIfNobodyWaitsForIt() throws InterruptedException {
        failure.set(new IllegalStateException("a replica"));
        mayEnd = new CountDownLatch(1);

        try (CapturedLog log = new CapturedLog(ReadinessCheck.class)) {
            readiness.begin();
            mayEnd.countDown();
            awaitEnd();
            assertThat(log.text()).contains("ERROR ReadinessCheck - No listener can start: a replica");
        }
        try (CapturedLog log = new CapturedLog(ReadinessCheck.class)) {
            assertThatThrownBy(readiness::require).isSameAs(failure.get());
            assertThat(log.text()).isEmpty();
        }
    }

    @Test
    void interruptedCallerStaysInterrupted() {
        mayEnd = new CountDownLatch(1);
        Thread.currentThread().interrupt();
        try {
            assertThatIllegalStateException()
                    .isThrownBy(readiness::require)
                    .withMessageContaining("Interrupted while it was checked");
            assertThat(Thread.interrupted()).isTrue();
        } finally {
            mayEnd.countDown();
        }
    }

    @Test
    void closeEndsARunningCheckAndPreventsAnother() {
        mayEnd = new CountDownLatch(1);
        readiness.begin();
        thread();

        try (CapturedLog log = new CapturedLog(ReadinessCheck.class)) {
            readiness.close();
            assertThat(log.text()).isEmpty();
        }

        assertThat(thread().isAlive()).isFalse();
        assertThatIllegalStateException().isThrownBy(readiness::require).withMessage("The application is closed");
        assertThat(checks).hasValue(1);
    }

    @Test
    void closeWithoutACheckDoesNothing() {
        readiness.close();

        assertThat(checks).hasValue(0);
    }

    /** A check that ignores the interrupt ends when the application closes the store's connections. */
    @Test
    void interruptedCloseDoesNotWait() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        AtomicBoolean hasEnded = new AtomicBoolean();
        ReadinessCheck stubborn = new ReadinessCheck(() -> {}, () -> {
            checking.complete(Thread.currentThread());
            while (end.getCount() > 0) {
                Thread.onSpinWait();
            }
            hasEnded.set(true);
        });
        stubborn.begin();
        thread();
        Thread.currentThread().interrupt();
        try {
            stubborn.close();

            assertThat(hasEnded).isFalse();
            assertThat(Thread.interrupted()).isTrue();
        } finally {
            end.countDown();
        }
        awaitEnd();
    }
}
