package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URL;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.AbstractDataSource;

class ClaimPoolTests {

    private static final String URL = "jdbc:postgresql://db.example/shop";

    @Test
    void nothingIsOpenedBeforeTheFirstUse() throws SQLException {
        AtomicInteger opened = new AtomicInteger();
        var pool = ImpatientPool.of(target(), new DownDatabase(opened::incrementAndGet));
        try (pool) {
            assertThat(pool.own().orElseThrow().isRunning()).isFalse();

            assertThatThrownBy(pool.dataSource()::getConnection).hasRootCauseMessage("down");

            assertThat(pool.own().orElseThrow().isRunning()).isTrue();
            assertThat(opened).hasPositiveValue();
        }
    }

    @Test
    void idleInstanceKeepsOneConnectionAndARenewalThatHangsLeavesTimeForARetry() throws SQLException {
        assertThat(driver(target())).containsEntry("socketTimeout", "5").containsEntry("loginTimeout", "3");
        try (var pool = new ClaimPool(
                new ClaimPool.Target("spring.datasource.url", URL, null, null), 10, Duration.ofSeconds(3))) {
            var settings = pool.own().orElseThrow();

            assertThat(settings.getMinimumIdle()).isEqualTo(1);
            assertThat(Duration.ofMillis(settings.getIdleTimeout())).isEqualTo(Duration.ofMinutes(1));
            assertThat(settings.getConnectionTimeout()).isEqualTo(3_000);
        }
    }

    /**
     * A caller that also writes other callers' claims may be interrupted. The interrupt must not look like a failed
     * database.
     */
    @Test
    void interruptOfAWaitingCallerIsTheCauseAndIsKept() throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        var slow = new DownDatabase(() -> {
            try {
                open.await();
            } catch (InterruptedException closing) {
                Thread.currentThread().interrupt();
            }
        });
        try (var pool = new ClaimPool(target(), slow, 1, ClaimPool.TIMEOUT)) {
            Thread.currentThread().interrupt();

            assertThatThrownBy(pool.dataSource()::getConnection)
                    .isInstanceOf(SQLException.class)
                    .hasRootCauseInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isTrue();
            open.countDown();
        }
    }

    /** The driver queries the server of each new connection, even if the URL has one host. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "jdbc:postgresql://a/shop | jdbc:postgresql://a/shop",
                "jdbc:postgresql://a,b/shop?targetServerType=any | jdbc:postgresql://a,b/shop?",
                "jdbc:postgresql://a,b/shop?ssl=true&targetServerType=slave&targetServerType=any&x=y | jdbc:postgresql://a,b/shop?ssl=true&&&x=y",
                "jdbc:postgresql://a/shop?options=-c%20targetServerType=any | jdbc:postgresql://a/shop?options=-c%20targetServerType=any"
            })
    void driverIsConfiguredToFindThePrimaryWhateverTheUrlHas(String url, String without) {
        var driver = new PrimaryDriver.OneTarget(ImpatientPool.target(url, null, null), ClaimPool.TIMEOUT);

        assertThat(driver.getUrl()).isEqualTo(without);
        assertThat(driver.getConnectionProperties()).containsEntry("targetServerType", "primary");
    }

    @Test
    void onlyWhereThereAreSeveralHostsTheDriverGivesOneUpSoon() {
        assertThat(driver(ImpatientPool.target("jdbc:postgresql://a,b/shop", null, null)))
                .containsEntry("connectTimeout", "1");
        assertThat(driver(ImpatientPool.target("jdbc:postgresql://a/shop?options=x,y", null, null)))
                .doesNotContainKey("connectTimeout");
    }

    @Test
    void settingsOfTheApplicationsPoolComeBeforeOurs() {
        var target = new ClaimPool.Target(
                "spring.datasource.url",
                URL,
                null,
                null,
                "",
                null,
                Map.of("socketTimeout", "9", "sslmode", "verify-full", "targetServerType", "any"),
                null,
                null);

        assertThat(driver(target))
                .containsEntry("socketTimeout", "9")
                .containsEntry("sslmode", "verify-full")
                .containsEntry("targetServerType", "primary");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://me:secret@db/shop",
                "jdbc:postgresql://me:se@secret@db/shop",
                "jdbc:postgresql://me:secret@db-1:5432,me:secret@db-2:5432/shop",
                "jdbc:postgresql://me:secret/secret@db/shop",
                "jdbc:postgresql://me:x?secret@db/shop",
                "jdbc:postgresql://db/shop&password=secret",
                "jdbc:postgresql://db:secret/shop",
                "jdbc:postgresql://db/shop password=secret",
                "jdbc:postgresql://db/shop?user=me&password=secret",
                "jdbc:postgresql:shop?password=secret",
                "jdbc:aws-wrapper:postgresql://me:secret@db/shop",
                "jdbc:mysql://me:secret@db-1,me:secret@db-2/shop;password=secret",
                "jdbc:oracle:thin:me/secret@db:1521/shop",
                "jdbc:h2:mem:shop;USER=me;PASSWORD=secret",
            })
    void secretsAreNotReported(String url) {
        var target = new ClaimPool.Target("exactly-once.datasource.url", url, "me", "secret");
        try (var pool = ImpatientPool.of(target)) {
            assertThat(target.toString()).doesNotContain("secret").endsWith(" of exactly-once.datasource.url");
            assertThat(pool.target()).doesNotContain("secret");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "jdbc:postgresql://db-1:5432/shop?user=me | db-1:5432/shop",
                "jdbc:postgresql://db-1:5432,[::1]:5433/shop | db-1:5432,[::1]:5433/shop",
                "jdbc:postgresql:shop | shop",
                "jdbc:aws-wrapper:postgresql://db/shop | db/shop",
                "jdbc:otel:postgresql://db/shop | db/shop",
                "jdbc-secretsmanager:postgresql://db/shop | db/shop",
                "nonsense | nonsense",
            })
    void hostsAndDatabaseAreReported(String url, String target) {
        try (var pool = ImpatientPool.of(url)) {
            assertThat(pool.target()).isEqualTo(target);
        }
    }

    private static Properties driver(ClaimPool.Target target) {
        return new PrimaryDriver.OneTarget(target, ClaimPool.TIMEOUT).getConnectionProperties();
    }

    private static ClaimPool.Target target() {
        return ImpatientPool.target(URL, null, null);
    }

    private static final class DownDatabase extends AbstractDataSource {

        private final Runnable whenAsked;

        DownDatabase(Runnable whenAsked) {
            this.whenAsked = whenAsked;
        }

        @Override
        public Connection getConnection() throws SQLException {
            whenAsked.run();
            throw new SQLException("down");
        }

        @Override
        public Connection getConnection(String username, String password) {
            throw new AssertionError("connection details are the driver's");
        }
    }
}
