package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.StreamingReplica;
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
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

@ExtendWith(OutputCaptureExtension.class)
class ReplicaMonitorIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final String URL = SERVER.createDatabase();
    private static final JdbcTemplate PRIMARY = new JdbcTemplate(SERVER.dataSource(URL));
    private static final Duration DELAY = Duration.ofSeconds(3);
    private static final String NAME = "laggard@127.0.0.1";

    private static StreamingReplica replica;

    private final List<List<ReplicaLag>> looks = new CopyOnWriteArrayList<>();
    private final ClaimPool claims = ImpatientPool.of(target(SERVER.username()));

    @BeforeAll
    static void startReplica() throws Exception {
        replica = new StreamingReplica(SERVER.dataSource(URL), SERVER.port(), "laggard", DELAY);
        PRIMARY.execute("CREATE TABLE traffic (id int)");
        await().until(() -> PRIMARY.queryForObject(
                        "SELECT count(*) FROM pg_stat_replication WHERE application_name = 'laggard'", Integer.class)
                == 1);
    }

    @AfterAll
    static void stopReplica() throws Exception {
        replica.close();
        // A failed class is run again in the same database.
        PRIMARY.execute("DROP TABLE traffic");
    }

    @AfterEach
    void close() {
        claims.close();
    }

    @Test
    void delayedReplicaLagsInSecondsAndBytesUntilItHasCaughtUp() {
        var monitor = new ReplicaMonitor(claims, SynchronousCommit.ON, List.of(looks::add));

        await().until(() -> {
            PRIMARY.update("INSERT INTO traffic VALUES (1)");
            monitor.tick();
            return latest().stream()
                    .anyMatch(lag -> lag.replica().equals(NAME)
                            && lag.lag().compareTo(DELAY.minusMillis(100)) >= 0
                            && lag.bytes() > 0);
        });
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            monitor.tick();
            return latest().stream()
                    .anyMatch(lag -> lag.replica().equals(NAME) && lag.lag().isZero() && lag.bytes() == 0);
        });
    }

    @Test
    void asynchronousReplicaIsLoggedAtStartup(CapturedOutput output) {
        var monitor = new ReplicaMonitor(claims, SynchronousCommit.ON, List.of(looks::add));
        try (var database = new ClaimDatabase(
                claims, TestDatabase.table(claims.dataSource()), DatabaseInitializationMode.ALWAYS, monitor::tick)) {
            database.requireReady();

            assertThat(looks).hasSize(1);
            assertThat(output).contains("A failover may forget claims", NAME);
        }
    }

    /** Trap: each lookup opened a connection, authenticated, and closed it. */
    @Test
    void lookupsShareAConnectionOfThePool() {
        var opened = new AtomicInteger();
        var driver = new DelegatingDataSource(SERVER.dataSource(URL)) {
            @Override
            public Connection getConnection() throws SQLException {
                opened.incrementAndGet();
                return super.getConnection();
            }
        };
        try (ClaimPool pool = ImpatientPool.of(target(SERVER.username()), driver)) {
            var monitor = new ReplicaMonitor(pool, SynchronousCommit.ON, List.of(looks::add));
            for (int look = 0; look < 20; look++) {
                monitor.tick();
            }

            assertThat(latest()).isNotEmpty();
            // The pool may open a second connection if a caller arrives while the first one is being returned.
            assertThat(opened).hasValueLessThanOrEqualTo(2);
        }
    }

    private List<ReplicaLag> latest() {
        return looks.isEmpty() ? List.of() : looks.get(looks.size() - 1);
    }

    private static ClaimPool.Target target(String username) {
        return new ClaimPool.Target("spring.datasource.url", URL, username, SERVER.password());
    }
}
