package io.exactlyonce.primary.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.primary.ConnectionTarget;
import io.exactlyonce.primary.ImpatientPool;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.StreamingReplica;
import io.exactlyonce.time.SystemClockwork;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

@ExtendWith(OutputCaptureExtension.class)
class ReplicaLagMonitorIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final String URL = SERVER.createDatabase();
    private static final JdbcTemplate PRIMARY = new JdbcTemplate(SERVER.dataSource(URL));
    private static final Duration DELAY = Duration.ofSeconds(3);
    private static final Duration SOON = Duration.ofMillis(100);
    private static final String NAME = "laggard@127.0.0.1";

    private static StreamingReplica replica;

    private final List<List<ReplicaLag>> looks = new CopyOnWriteArrayList<>();
    private final PrimaryPinnedDataSource claims = ImpatientPool.of(target(SERVER.username()));

    @BeforeAll
    static void startReplica() throws Exception {
        replica = new StreamingReplica(SERVER.dataSource(URL), SERVER.port(), "laggard", DELAY);
        PRIMARY.execute("CREATE TABLE traffic (id int)");
        PRIMARY.execute("CREATE ROLE bare LOGIN");
        await().until(() -> PRIMARY.queryForObject(
                        "SELECT count(*) FROM pg_stat_replication WHERE application_name = 'laggard'", Integer.class)
                == 1);
    }

    @AfterAll
    static void stopReplica() throws Exception {
        replica.close();
        // A class that fails is run again, in the same database.
        PRIMARY.execute("DROP TABLE traffic");
        PRIMARY.execute("DROP ROLE bare");
    }

    @AfterEach
    void close() {
        claims.close();
    }

    @Test
    void delayedReplicaLagsInSecondsAndBytesUntilItHasCaughtUp() {
        try (var monitor = new ReplicaLagMonitor(claims, new SystemClockwork(), SOON, looks::add)) {
            monitor.start();

            await().until(() -> {
                PRIMARY.update("INSERT INTO traffic VALUES (1)");
                return latest().stream()
                        .anyMatch(lag -> lag.replica().equals(NAME)
                                && lag.lag().compareTo(DELAY.minusMillis(100)) >= 0
                                && lag.bytes() > 0);
            });
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> latest().stream()
                            .anyMatch(lag ->
                                    lag.replica().equals(NAME) && lag.lag().isZero() && lag.bytes() == 0));
        }
    }

    @Test
    void asynchronousReplicaIsWarnedOfAtTheStart(CapturedOutput output) {
        try (var monitor = new ReplicaLagMonitor(claims, new SystemClockwork(), Duration.ofHours(1), looks::add)) {
            monitor.start();

            await().until(() -> looks.size() == 1);
            assertThat(output).contains("A failover may forget claims", NAME);
        }
    }

    @Test
    void userWithBareGrantsIsToldWhichOneIsMissing(CapturedOutput output) {
        try (PrimaryPinnedDataSource bare = ImpatientPool.of(target("bare"))) {
            var monitor = new ReplicaLagMonitor(bare, new SystemClockwork(), SOON, looks::add);
            monitor.look();
            monitor.look();

            assertThat(looks).containsExactly(List.of(), List.of());
            assertThat(output).containsOnlyOnce("GRANT pg_monitor TO").doesNotContain("may forget claims");

            PRIMARY.execute("GRANT pg_read_all_stats TO bare");
            monitor.look();
            assertThat(latest()).extracting(ReplicaLag::replica).containsExactly(NAME);
        }
    }

    @Test
    void neitherADatabaseThatIsAwayNorAnObserverThatFailsEndsTheWatch(CapturedOutput output) {
        String url = SERVER.createDatabase();
        try (PrimaryPinnedDataSource pool = ImpatientPool.of(new ConnectionTarget(
                        ConnectionTarget.Source.APPLICATION, url, SERVER.username(), SERVER.password()));
                var monitor = new ReplicaLagMonitor(pool, new SystemClockwork(), SOON, replicas -> {
                    looks.add(replicas);
                    throw new IllegalStateException("as if");
                })) {
            monitor.start();
            await().until(() -> !looks.isEmpty() && !latest().isEmpty());

            SERVER.disconnect(url);
            await().until(() -> latest().isEmpty());
            assertThat(output).containsOnlyOnce("Replica lag cannot be read");

            SERVER.reconnect(url);
            await().until(() -> !latest().isEmpty());
        }
    }

    /** Trap: each look opened a connection of its own, authenticated, and closed it. */
    @Test
    void looksShareAConnectionOfThePool() {
        var opened = new AtomicInteger();
        var driver = new DelegatingDataSource(SERVER.dataSource(URL)) {
            @Override
            public Connection getConnection() throws SQLException {
                opened.incrementAndGet();
                return super.getConnection();
            }
        };
        try (PrimaryPinnedDataSource pool = ImpatientPool.of(target(SERVER.username()), driver)) {
            var monitor = new ReplicaLagMonitor(pool, new SystemClockwork(), SOON, looks::add);
            for (int look = 0; look < 5; look++) {
                monitor.look();
            }

            assertThat(latest()).isNotEmpty();
            assertThat(opened).hasValue(1);
        }
    }

    @Test
    void zeroSwitchesItOff() {
        try (var monitor = new ReplicaLagMonitor(claims, new SystemClockwork(), Duration.ZERO, looks::add)) {
            assertThatCode(monitor::start).doesNotThrowAnyException();

            await().during(Duration.ofMillis(300)).until(looks::isEmpty);
        }
    }

    /** The start-up's check may end after the application was closed. */
    @Test
    void startedAfterItWasClosedItDoesNotLook() {
        var monitor = new ReplicaLagMonitor(claims, new SystemClockwork(), SOON, looks::add);
        monitor.close();

        monitor.start();

        await().during(Duration.ofMillis(300)).until(looks::isEmpty);
        monitor.close();
    }

    /** A start that fails closes the pool and its observers' beans while a look may be under way. */
    @Test
    void lookThatFailsSinceTheApplicationClosesIsNoError(CapturedOutput output) {
        var monitor = new ReplicaLagMonitor(claims, new SystemClockwork(), SOON, replicas -> {
            throw new IllegalStateException("as if its bean were being destroyed");
        });
        monitor.close();

        monitor.look();

        // Another test's monitor may still have told of another failure.
        assertThat(output).doesNotContain("as if its bean were being destroyed");
    }

    private List<ReplicaLag> latest() {
        return looks.isEmpty() ? List.of() : looks.get(looks.size() - 1);
    }

    private static ConnectionTarget target(String username) {
        return new ConnectionTarget(ConnectionTarget.Source.APPLICATION, URL, username, SERVER.password());
    }
}
