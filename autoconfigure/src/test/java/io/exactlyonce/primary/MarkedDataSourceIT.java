package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.StreamingReplica;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A pool of the application's: its settings stay, but what it lends out must prove to lead to a primary. */
class MarkedDataSourceIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final int SIZE = 3;

    private final String url = SERVER.createDatabase();

    /** Hides the pool, as that of another maker would be. */
    private static final class UnknownPool extends DelegatingDataSource {

        UnknownPool(DataSource target) {
            super(target);
        }

        @Override
        public <T> T unwrap(Class<T> type) throws SQLException {
            throw new SQLException("wraps nothing");
        }

        @Override
        public boolean isWrapperFor(Class<?> type) {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sessionsThatTakeNoWritesAnyMoreAreReplaced(boolean known) throws SQLException {
        try (HikariDataSource pool = pool(url);
                var claims = marked(known ? pool : new UnknownPool(pool))) {
            makeSessionsReadOnly(pool);

            try (Connection connection = claims.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE written ()");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sessionsThatHaveEndedAreReplaced(boolean known) throws SQLException {
        try (HikariDataSource pool = pool(url);
                var claims = marked(known ? pool : new UnknownPool(pool))) {
            new ArrayList<>(borrowAll(pool)).forEach(MarkedDataSourceIT::close);
            new JdbcTemplate(SERVER.dataSource(url)).queryForList("""
                    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                    """);

            try (Connection connection = claims.getConnection()) {
                assertThat(connection.isValid(1)).isTrue();
            }
        }
    }

    @Test
    void replicaIsRefused() throws Exception {
        try (var replica = new StreamingReplica(SERVER.dataSource(url), SERVER.port());
                HikariDataSource pool = pool(url.replace(":" + SERVER.port(), ":" + replica.port()));
                var claims = marked(pool)) {
            assertThatThrownBy(() -> new PrimaryProbe(claims).verify())
                    .isInstanceOf(PrimaryUnavailableException.class)
                    .hasMessageContaining("leads to server 127.0.0.1:" + replica.port())
                    .hasMessageContaining("point the DataSource marked @ExactlyOnceDataSource at the primary");
        }
    }

    @Test
    void settingsOfThePoolStayAndItIsNotClosed() throws SQLException {
        try (HikariDataSource pool = pool(url)) {
            try (var claims = marked(pool)) {
                new PrimaryProbe(claims).verify();
                assertThat(claims.maximumPoolSize()).isEqualTo(SIZE);
                assertThat(claims.chosenTimeout()).hasValue(Duration.ofMillis(pool.getConnectionTimeout()));
            }

            assertThat(pool.isClosed()).isFalse();
            assertThat(pool.getPoolName()).isEqualTo("theirs");
            assertThat(pool.getMaximumPoolSize()).isEqualTo(SIZE);
            assertThat(pool.getExceptionOverride()).isNull();
        }
    }

    @Test
    void sizeOfAnUnknownPoolIsWhatIsConfigured() {
        PrimaryPinnedDataSource claims = marked(new UnknownPool(SERVER.dataSource(url)));

        assertThat(claims.maximumPoolSize()).isEqualTo(10);
        assertThat(claims.chosenTimeout()).isEmpty();
    }

    @Test
    void poolInAStricterIsolationLevelIsRefused() {
        try (HikariDataSource pool = pool(url)) {
            pool.setTransactionIsolation("TRANSACTION_SERIALIZABLE");

            assertRefused(
                    pool,
                    "begins transactions in isolation level SERIALIZABLE, but claims need READ COMMITTED",
                    "TRANSACTION_READ_COMMITTED");
        }
    }

    @Test
    void poolWithoutAutocommitIsRefused() {
        try (HikariDataSource pool = pool(url)) {
            pool.setAutoCommit(false);

            assertRefused(pool, "has autocommit off", "set autoCommit of its pool to true");
        }
    }

    @Test
    void poolOfOneConnectionIsRefused() {
        try (HikariDataSource pool = pool(url)) {
            pool.setMaximumPoolSize(1);

            assertRefused(pool, "gives 1 connection, but claims need 2 at least", "raise the maximumPoolSize");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void poolWhoseDriverSendsStatementsApartIsRefused(boolean byUrl) {
        try (HikariDataSource pool = pool(byUrl ? url + "?preferQueryMode=simple" : url)) {
            if (!byUrl) {
                pool.addDataSourceProperty("preferQueryMode", "simple");
            }

            assertRefused(
                    pool, "preferQueryMode=simple", "remove preferQueryMode=simple from the URL of the DataSource");
        }
    }

    private static void assertRefused(HikariDataSource pool, String problem, String remedy) {
        try (var claims = marked(pool)) {
            assertThatThrownBy(() -> new PrimaryProbe(claims).verify())
                    .isInstanceOfSatisfying(PrimaryUnavailableException.class, refused -> {
                        assertThat(refused.problem())
                                .startsWith("the DataSource marked @ExactlyOnceDataSource ")
                                .contains(problem);
                        assertThat(refused.remedy()).contains(remedy);
                    });
        }
    }

    private static void makeSessionsReadOnly(DataSource pool) throws SQLException {
        for (Connection connection : borrowAll(pool)) {
            try (connection;
                    Statement statement = connection.createStatement()) {
                statement.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
            }
        }
    }

    private static List<Connection> borrowAll(DataSource pool) throws SQLException {
        List<Connection> all = new ArrayList<>();
        for (int i = 0; i < SIZE; i++) {
            all.add(pool.getConnection());
        }
        return all;
    }

    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static HikariDataSource pool(String url) {
        var pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setUsername(SERVER.username());
        pool.setPassword(SERVER.password());
        pool.setPoolName("theirs");
        pool.setMaximumPoolSize(SIZE);
        return pool;
    }

    private static PrimaryPinnedDataSource marked(DataSource pool) {
        return PrimaryPinnedDataSource.around(pool, 10, SynchronousCommit.ON);
    }
}
