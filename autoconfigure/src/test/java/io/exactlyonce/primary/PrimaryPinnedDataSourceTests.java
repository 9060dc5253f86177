package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class PrimaryPinnedDataSourceTests {

    private static final String URL = "jdbc:postgresql://db.example/shop";

    private final AtomicInteger opened = new AtomicInteger();

    @Test
    void nothingIsOpenedBeforeTheFirstUse() throws SQLException {
        var pool = ImpatientPool.of(target(), new CountingDriver());
        try (pool) {
            assertThat(pool.unwrap(HikariDataSource.class).isRunning()).isFalse();

            assertThatThrownBy(pool::getConnection).hasRootCauseMessage("down");

            assertThat(pool.unwrap(HikariDataSource.class).isRunning()).isTrue();
            assertThat(opened).hasPositiveValue();
        }
    }

    @Test
    void idleInstanceKeepsOneConnectionOnly() throws SQLException {
        try (var pool = new PrimaryPinnedDataSource(URL, null, null, 10)) {
            var settings = pool.unwrap(HikariDataSource.class);

            assertThat(settings.getMinimumIdle()).isEqualTo(1);
            assertThat(Duration.ofMillis(settings.getIdleTimeout())).isEqualTo(Duration.ofMinutes(1));
        }
    }

    @Test
    void renewalThatHangsLeavesTimeForARetry() throws SQLException {
        Properties driver = ((DriverManagerDataSource) DriverSettings.of(target(), Duration.ofSeconds(3)))
                .getConnectionProperties();

        assertThat(driver).containsEntry("socketTimeout", "5").containsEntry("loginTimeout", "3");
        try (var pool = new PrimaryPinnedDataSource(URL, null, null, 10)) {
            assertThat(pool.unwrap(HikariDataSource.class).getConnectionTimeout())
                    .isEqualTo(3_000);
        }
    }

    /** A caller that writes other callers' claims, too, may be interrupted: that must be told from a failed database. */
    @Test
    void interruptOfAWaitingCallerIsTheCauseAndIsKept() throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        try (var pool = new PrimaryPinnedDataSource(
                target(), new SlowDriver(open), 1, PrimaryPinnedDataSource.CONNECTION_TIMEOUT, SynchronousCommit.ON)) {
            Thread.currentThread().interrupt();

            assertThatThrownBy(pool::getConnection)
                    .isInstanceOf(SQLException.class)
                    .hasRootCauseInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isTrue();
            open.countDown();
        }
    }

    @Test
    void targetIsToldWithoutSecrets() {
        assertThat(new ConnectionTarget(
                        ConnectionTarget.Source.PROPERTIES,
                        "jdbc:postgresql://me:secret@db/shop?password=secret",
                        "me",
                        "secret"))
                .asString()
                .isEqualTo("jdbc:postgresql://db/shop from exactly-once.datasource");
    }

    private static ConnectionTarget target() {
        return new ConnectionTarget(ConnectionTarget.Source.APPLICATION, URL, null, null);
    }

    /** A database that is down. */
    private final class CountingDriver extends AbstractDataSource {

        @Override
        public Connection getConnection() throws SQLException {
            opened.incrementAndGet();
            throw new SQLException("down");
        }

        @Override
        public Connection getConnection(String username, String password) throws SQLException {
            return getConnection();
        }
    }

    private static class SlowDriver extends AbstractDataSource {

        private final CountDownLatch open;

        SlowDriver(CountDownLatch open) {
            this.open = open;
        }

        @Override
        public Connection getConnection() throws SQLException {
            try {
                open.await();
            } catch (InterruptedException closing) {
                Thread.currentThread().interrupt();
            }
            throw new SQLException("down");
        }

        @Override
        public Connection getConnection(String username, String password) {
            throw new AssertionError("connection details are the driver's");
        }
    }
}
