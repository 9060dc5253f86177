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
        run.stop();

        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        assertThat(run.wasStopped()).isTrue();
    }

    @Test
    void secondInterruptIsNotSent() {
        run.stop();
        Thread.interrupted();
        run.stop();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void closeTakesBackAnInterruptThatTheHandlerDidNotNotice() {
        run.stop();
        run.close();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(run.wasStopped()).isTrue();
    }

    @Test
    void interruptAfterCloseDoesNotReachTheThread() {
        run.close();
        run.stop();

        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(run.wasStopped()).isFalse();
    }

    @Test
    void closeLeavesAnInterruptOfTheApplication() {
        Thread.currentThread().interrupt();
        run.close();

        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }
}
