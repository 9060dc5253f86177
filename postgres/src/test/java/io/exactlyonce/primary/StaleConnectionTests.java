package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class StaleConnectionTests {

    @ParameterizedTest
    @ValueSource(strings = {"08000", "08003", "08006", "08P01", "57P01", "57P02", "57P03", "25006"})
    void freshConnectionHelps(String sqlState) {
        assertThat(ClaimPool.isStale(new IllegalStateException(new SQLException("gone", sqlState))))
                .isTrue();
    }

    static Stream<Exception> freshConnectionMakesNoDifference() {
        SQLException broken = new SQLException("broken", "08006");
        return Stream.concat(
                Stream.of("40001", "57014", "42P01", "53300").map(sqlState -> new SQLException("no", sqlState)),
                Stream.of(
                        new SQLException("the outermost decides", "23505", broken),
                        new SQLException("waited for, and not twice", "08006", new SocketTimeoutException()),
                        new IllegalStateException("no SQL")));
    }

    @ParameterizedTest
    @MethodSource
    void freshConnectionMakesNoDifference(Exception failure) {
        assertThat(ClaimPool.isStale(failure)).isFalse();
    }

    @Test
    void causeDecidesWhereTheFailureHasNoStateOfItsOwn() {
        SQLException broken = new SQLException("broken", "08006", new IOException("reset"));

        assertThat(ClaimPool.isStale(new SQLException("none", null, broken))).isTrue();
    }
}
