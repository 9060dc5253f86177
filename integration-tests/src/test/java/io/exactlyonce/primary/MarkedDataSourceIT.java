package io.exactlyonce.primary;

import static io.exactlyonce.primary.ImpatientPool.refusalOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.testing.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** An application's pool that is marked for claims. Its settings stay, and each connection must be to a primary. */
class MarkedDataSourceIT {

    private static final String UNTRIED_MILLIS = "com.zaxxer.hikari.aliveBypassWindowMs";
    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final int SIZE = 3;

    private final String url = SERVER.createDatabase();

    /** Hides the pool, so that it looks like a pool of another vendor. */
    private static final class UnknownPool extends AbstractDataSource {

        private final DataSource hidden;

        UnknownPool(DataSource hidden) {
            this.hidden = hidden;
        }

        @Override
        public Connection getConnection() throws SQLException {
            return hidden.getConnection();
        }

        @Override
        public Connection getConnection(String username, String password) throws SQLException {
            return hidden.getConnection(username, password);
        }
    }

    /**
     * HikariCP returns sessions without a check for this long after their last use. The time is longer than any test.
     */
    @BeforeAll
    static void lendSessionsOutUntried() {
        System.setProperty(UNTRIED_MILLIS, "60000");
    }

    @AfterAll
    static void tryThemAgain() {
        System.clearProperty(UNTRIED_MILLIS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sessionsThatTakeNoWritesAnyMoreAreReplaced(boolean known) throws SQLException {
        try (HikariDataSource pool = pool(url)) {
            assertThatClaimsContinueAfter(pool, known, () -> makeSessionsReadOnly(pool));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sessionsThatHaveEndedAreReplaced(boolean known) throws SQLException {
        try (HikariDataSource pool = pool(url)) {
            assertThatClaimsContinueAfter(pool, known, () -> {
                borrowAll(pool).forEach(MarkedDataSourceIT::close);
                new JdbcTemplate(SERVER.dataSource(url)).queryForList("""
                        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                        """);
            });
        }
    }

    private interface Failover {
        void happens() throws SQLException;
    }

    /**
     * If the pool is HikariCP, the first failure replaces all sessions. In other pools, each call replaces at most two
     * sessions.
     */
    private static void assertThatClaimsContinueAfter(HikariDataSource pool, boolean known, Failover failover)
            throws SQLException {
        DataSource claims = marked(known ? pool : new UnknownPool(pool)).dataSource();
        new ClaimSchema(TestDatabase.table(claims)).create();
        var store = TestDatabase.store(claims);

        failover.happens();

        if (!known) {
            assertThatThrownBy(() -> store.claim(List.of(TestDatabase.request())))
                    .isInstanceOf(ClaimStoreUnavailableException.class);
        }
        for (int call = 0; call < SIZE; call++) {
            assertThat(store.claim(List.of(TestDatabase.request()))).hasOnlyElementsOfType(Acquired.class);
        }
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

            assertRefused(pool, "has 1 connection, but claims need at least 2", "raise the maximumPoolSize");
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
            ClaimDatabaseException refused = refusalOf(claims);
            assertThat(refused.problem())
                    .startsWith("the DataSource marked @ExactlyOnceDataSource ")
                    .contains(problem);
            assertThat(refused.remedy()).contains(remedy);
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

    private static ClaimPool marked(DataSource pool) {
        return ClaimPool.around(pool, 10);
    }
}
