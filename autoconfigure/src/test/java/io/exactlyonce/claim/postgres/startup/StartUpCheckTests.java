package io.exactlyonce.claim.postgres.startup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who waits for whom when the check is slow, fails, is interrupted or is no longer wanted. */
@Timeout(30)
class StartUpCheckTests {

    private final CountDownLatch underWay = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);
    private final AtomicInteger runs = new AtomicInteger();
    private final AtomicBoolean brokenOff = new AtomicBoolean();

    private final StartUpCheck slow = new StartUpCheck(() -> {
        runs.incrementAndGet();
        underWay.countDown();
        try {
            answer.await();
        } catch (InterruptedException closed) {
            brokenOff.set(true);
        }
    });

    @AfterEach
    void answerAtLast() {
        answer.countDown();
        slow.close();
    }

    @Test
    void slowCheckKeepsNoThreadWaitingButThoseThatAwaitIt() throws Exception {
        slow.begin();
        underWay.await();
        CompletableFuture<Void> first = CompletableFuture.runAsync(slow::await);
        CompletableFuture<Void> second = CompletableFuture.runAsync(slow::await);
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();

        answer.countDown();

        CompletableFuture.allOf(first, second).join();
    }

    @Test
    void allCallersShareOneCheck() {
        answer.countDown();

        slow.begin();
        slow.await();
        slow.begin();
        slow.await();

        assertThat(runs).hasValue(1);
    }

    @Test
    void awaitingBeginsIt() {
        answer.countDown();

        slow.await();

        assertThat(runs).hasValue(1);
    }

    @Test
    void failureIsToldToAllCallersAndDoesNotPassByChanceTheNextTime() {
        StartUpCheck failing = new StartUpCheck(() -> {
            if (runs.incrementAndGet() == 1) {
                throw new IllegalArgumentException("a replica");
            }
        });

        Throwable first = catchThrowable(failing::await);
        Throwable second = catchThrowable(failing::await);

        assertThat(first).isInstanceOf(IllegalArgumentException.class).hasMessage("a replica");
        assertThat(second).isSameAs(first);
    }

    @Test
    void errorStaysAnError() {
        StartUpCheck failing = new StartUpCheck(() -> {
            throw new NoClassDefFoundError("Driver");
        });

        assertThatThrownBy(failing::await).isInstanceOf(NoClassDefFoundError.class);
    }

    @Test
    void interruptEndsTheWaitAndLeavesTheCheckToOtherCallers() {
        Thread.currentThread().interrupt();

        assertThatThrownBy(slow::await)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Interrupted");

        assertThat(Thread.interrupted()).as("interrupt restored").isTrue();
        answer.countDown();
        assertThatCode(slow::await).doesNotThrowAnyException();
        assertThat(brokenOff).isFalse();
    }

    @Test
    void closingBreaksItOffAndWaitsUntilItUsesNothing() throws Exception {
        slow.begin();
        underWay.await();

        slow.close();

        assertThat(brokenOff).isTrue();
    }

    @Test
    void closingTellsCallersThatWait() throws Exception {
        CompletableFuture<Throwable> waiting = CompletableFuture.supplyAsync(() -> catchThrowable(slow::await));
        underWay.await();

        slow.close();

        assertThat(waiting.join()).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
    }

    @Test
    void closedBeforeItBeganItNeverDoes() {
        slow.close();

        slow.begin();

        assertThatThrownBy(slow::await)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThat(runs).hasValue(0);
    }

    @Test
    void closingAfterwardsChangesNothing() {
        answer.countDown();
        slow.await();

        slow.close();

        assertThatCode(slow::await).doesNotThrowAnyException();
    }
}
