package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.testing.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

class FailoverEvictionIT {

    private final EmbeddedDatabase server = EmbeddedDatabase.shared();
    private final String url = server.createDatabase();
    private final ClaimPool pool = new ClaimPool(
            new ClaimPool.Target("spring.datasource.url", url, server.username(), server.password()),
            3,
            Duration.ofSeconds(3));

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void noConnectionIsGivenOutAgainOnceOneMetAReadOnlyServer() throws SQLException {
        int failing;
        int idle;
        int inUse;
        try (Connection first = pool.dataSource().getConnection();
                Connection second = pool.dataSource().getConnection()) {
            failing = backend(first);
            inUse = backend(second);
            try (Connection third = pool.dataSource().getConnection()) {
                idle = backend(third);
            }
            assertThatWriteIsRefused(first);
        }

        try (Connection first = pool.dataSource().getConnection();
                Connection second = pool.dataSource().getConnection();
                Connection third = pool.dataSource().getConnection()) {
            assertThat(new int[] {backend(first), backend(second), backend(third)})
                    .doesNotContain(failing, idle, inUse);
        }
    }

    /**
     * The pool returns a recently used connection without a check, although its server may have failed together with
     * the broken connection.
     */
    @Test
    void noConnectionIsGivenOutAgainOnceOneBroke() throws SQLException {
        int idle;
        try (Connection broken = pool.dataSource().getConnection();
                Statement statement = broken.createStatement()) {
            try (Connection other = pool.dataSource().getConnection()) {
                idle = backend(other);
            }
            new JdbcTemplate(server.dataSource(url))
                    .queryForList("SELECT pg_terminate_backend(?, 5000)", backend(broken));
            assertThatThrownBy(() -> statement.execute("SELECT 1")).isInstanceOf(SQLException.class);
        }

        try (Connection connection = pool.dataSource().getConnection()) {
            assertThat(backend(connection)).isNotEqualTo(idle);
        }
    }

    @Test
    void otherFailuresLeaveConnectionsAlone() throws SQLException {
        int before;
        try (Connection connection = pool.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            before = backend(connection);
            assertThatThrownBy(() -> statement.execute("SELECT 1 / 0")).isInstanceOf(SQLException.class);
        }

        try (Connection connection = pool.dataSource().getConnection()) {
            assertThat(backend(connection)).isEqualTo(before);
        }
    }

    private static void assertThatWriteIsRefused(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
            assertThatThrownBy(() -> statement.execute("CREATE TABLE refused ()"))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            failure -> assertThat(failure.getSQLState()).isEqualTo("25006"));
        }
    }

    private static int backend(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                var answer = statement.executeQuery("SELECT pg_backend_pid()")) {
            answer.next();
            return answer.getInt(1);
        }
    }
}
