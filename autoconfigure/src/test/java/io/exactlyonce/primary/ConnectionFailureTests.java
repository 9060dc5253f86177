package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectionFailureTests {

    @ParameterizedTest
    @ValueSource(strings = {"08000", "08003", "08006", "08P01", "57P01", "57P02", "57P03", "25006"})
    void freshConnectionHelps(String sqlState) {
        assertThat(ConnectionFailure.isStale(new IllegalStateException(new SQLException("gone", sqlState))))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"23505", "40001", "40P01", "57014", "42P01", "53300"})
    void freshConnectionMakesNoDifference(String sqlState) {
        assertThat(ConnectionFailure.isStale(new SQLException("no", sqlState))).isFalse();
    }

    @Test
    void replyThatIsLateIsNotWaitedForTwice() {
        assertThat(ConnectionFailure.isStale(new SQLException("late", "08006", new SocketTimeoutException())))
                .isFalse();
        assertThat(ConnectionFailure.isStale(new SQLException("reset", "08006", new IOException("reset"))))
                .isTrue();
    }

    @Test
    void outermostSqlStateDecides() {
        var broken = new SQLException("broken", "08006");
        assertThat(ConnectionFailure.isStale(new SQLException("duplicate", "23505", broken)))
                .isFalse();
        assertThat(ConnectionFailure.isStale(new SQLException("none", null, broken)))
                .isTrue();
    }

    @Test
    void failureOfAnotherKindIsNone() {
        assertThat(ConnectionFailure.isStale(new IllegalStateException("no SQL")))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        08004 | The server does not support SSL.
        08006 | SSL error: PKIX path building failed
        28000 | FATAL: no pg_hba.conf entry for host "10.0.0.9", user "shop", database "shop", no encryption
        28000 | FATAL: no pg_hba.conf entry for host "10.0.0.9", user "shop", database "shop", SSL off
        """)
    void tlsIsWhatToMend(String sqlState, String message) {
        assertThat(ConnectionFailure.isOfTls(new SQLException(message, sqlState)))
                .isTrue();
    }

    /** Over TLS, so that there is nothing to mend of it; or with names that the server repeats. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        28000 | FATAL: no pg_hba.conf entry for host "10.0.0.9", user "shop", database "shop", SSL encryption
        28000 | FATAL: no pg_hba.conf entry for host "10.0.0.9", user "shop", database "shop", SSL on
        28P01 | FATAL: password authentication failed for user "SSL_APP"
        3D000 | FATAL: database "NOSSL" does not exist
        """)
    void serverThatRefusesWhoComesOverTlsIsNoMatterOfTls(String sqlState, String message) {
        assertThat(ConnectionFailure.isOfTls(new SQLException(message, sqlState)))
                .isFalse();
    }
}
