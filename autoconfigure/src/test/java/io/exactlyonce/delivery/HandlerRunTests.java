package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HandlerRunTests {

    private final HandlerRun run = new HandlerRun();

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    @Test
    void interruptReachesTheThreadInsideTheHandler() {
        run.interrupt();

        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(run.wasInterrupted()).isTrue();
    }

    @Test
    void secondInterruptIsNotSent() {
        run.interrupt();
        Thread.interrupted();
        run.interrupt();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void closeTakesBackAnInterruptThatTheHandlerDidNotNotice() {
        run.interrupt();
        run.close();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(run.wasInterrupted()).isTrue();
    }

    @Test
    void interruptAfterCloseDoesNotReachTheThread() {
        run.close();
        run.interrupt();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(run.wasInterrupted()).isFalse();
    }

    @Test
    void closeLeavesAnInterruptOfTheApplication() {
        Thread.currentThread().interrupt();
        run.close();

        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }
}
