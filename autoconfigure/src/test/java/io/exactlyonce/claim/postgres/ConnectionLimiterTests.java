package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.TransientDataAccessResourceException;

class ConnectionLimiterTests {

    private final ConnectionLimiter permits = new ConnectionLimiter(3, Duration.ofMillis(20));

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    @Test
    void allConnectionsButOneAreGivenOutAndTheNextCallIsRefused() {
        assertThatThrownBy(() -> whileAllAreTaken(() -> permits.execute(() -> "never")))
                .isInstanceOf(TransientDataAccessResourceException.class)
                .hasMessageContaining("all of their 2 connections busy for 20 ms")
                .hasMessageContaining("raise exactly-once.datasource.maximum-pool-size (3,");
    }

    @Test
    void permitComesBackAlsoFromAFailure() {
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> permits.execute(() -> {
                        throw new IllegalStateException("failed");
                    }))
                    .hasMessage("failed");
        }

        assertThat(whileAllAreTaken(() -> "done")).isEqualTo("done");
    }

    @Test
    void interruptedThreadWorksIfItNeedNotWait() {
        Thread.currentThread().interrupt();

        assertThat(permits.<String>execute(() -> "released")).isEqualTo("released");
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }

    @Test
    void interruptEndsTheWaitAndIsKept() {
        var patient = new ConnectionLimiter(2, Duration.ofMinutes(1));

        assertThatThrownBy(() -> patient.execute(() -> {
                    Thread.currentThread().interrupt();
                    return patient.execute(() -> "never");
                }))
                .isInstanceOf(TransientDataAccessResourceException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
    }

    @Test
    void oneConnectionIsTooFew() {
        assertThatThrownBy(() -> new ConnectionLimiter(1, Duration.ofSeconds(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("connections (1) must be at least 2: one is left to renewals");
    }

    private String whileAllAreTaken(Supplier<String> work) {
        return permits.execute(() -> permits.execute(work));
    }
}
