package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StaleConnectionTests {

    @ParameterizedTest
    @ValueSource(strings = {"08000", "08003", "08006", "08P01", "57P01", "57P02", "57P03", "25006"})
    void freshConnectionHelps(String sqlState) {
        assertThat(ClaimPool.isStale(new IllegalStateException(new SQLException("gone", sqlState))))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"23505", "40001", "40P01", "57014", "42P01", "53300"})
    void freshConnectionMakesNoDifference(String sqlState) {
        assertThat(ClaimPool.isStale(new SQLException("no", sqlState))).isFalse();
    }

    @Test
    void replyThatIsLateIsNotWaitedForTwice() {
        assertThat(ClaimPool.isStale(new SQLException("late", "08006", new SocketTimeoutException())))
                .isFalse();
        assertThat(ClaimPool.isStale(new SQLException("reset", "08006", new IOException("reset"))))
                .isTrue();
    }

    @Test
    void outermostSqlStateDecides() {
        var broken = new SQLException("broken", "08006");
        assertThat(ClaimPool.isStale(new SQLException("duplicate", "23505", broken)))
                .isFalse();
        assertThat(ClaimPool.isStale(new SQLException("none", null, broken))).isTrue();
    }

    @Test
    void failureOfAnotherKindIsNone() {
        assertThat(ClaimPool.isStale(new IllegalStateException("no SQL"))).isFalse();
    }
}
