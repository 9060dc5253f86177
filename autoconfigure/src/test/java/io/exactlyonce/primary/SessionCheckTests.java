package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SessionCheckTests {

    @ParameterizedTest
    @CsvSource({"42P05, true", "26000, true", "42P01, false", "08006, false"})
    void sqlStateTellsAMixUp(String sqlState, boolean mixUp) {
        assertThat(SessionCheck.isMixUp(new SQLException("refused", sqlState))).isEqualTo(mixUp);
    }

    @Test
    void failureWithoutASqlStateIsNone() {
        assertThat(SessionCheck.isMixUp(new SQLException("no connection"))).isFalse();
    }
}
