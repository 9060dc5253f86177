package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.RoundTrips;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Counts the round trips of the check at startup, which take most of its time if the database is far away. */
class StartRoundTripsIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();

    private final String url = SERVER.createDatabase();
    private final ClaimPool.Target target = ImpatientPool.target(url, SERVER.username(), SERVER.password());
    private final AtomicInteger connections = new AtomicInteger();

    /** Opens connections as our pool does, and counts. */
    private ClaimPool pool() {
        DataSource driver = new PrimaryDriver(() -> target, ClaimPool.TIMEOUT);
        return ImpatientPool.of(target, new DelegatingDataSource(driver) {
            @Override
            public Connection getConnection() throws SQLException {
                connections.incrementAndGet();
                return super.getConnection();
            }
        });
    }

    @Test
    void startSendsFewStatementsOnTwoConnections() {
        try (ClaimPool pool = pool();
                var database = new ClaimDatabase(
                        pool,
                        TestDatabase.table(pool.dataSource()),
                        DatabaseInitializationMode.ALWAYS,
                        new ReplicaMonitor(pool, SynchronousCommit.ON, List.of())::tick);
                RoundTrips trips = RoundTrips.count()) {
            database.requireReady();

            assertThat(trips.total()).isBetween(30, 36);
            assertThat(connections).hasValue(2);
        }
    }

    @Test
    void healthSendsOneRequest() {
        try (ClaimPool pool = pool();
                var database = new ClaimDatabase(
                        pool, TestDatabase.table(pool.dataSource()), DatabaseInitializationMode.ALWAYS, () -> {})) {
            database.requireReady();

            try (RoundTrips trips = RoundTrips.count()) {
                assertThat(database.prove()).containsExactly(entry("primary", "127.0.0.1:" + SERVER.port()));

                assertThat(trips.total()).isOne();
            }
        }
    }

    @Test
    void healthReportsThatTheTableIsGone() {
        try (ClaimPool pool = pool();
                var database = new ClaimDatabase(
                        pool, TestDatabase.table(pool.dataSource()), DatabaseInitializationMode.ALWAYS, () -> {})) {
            database.requireReady();

            new JdbcTemplate(pool.dataSource()).execute("DROP TABLE exactly_once_claim");

            assertThatThrownBy(database::prove)
                    .isInstanceOf(ClaimDatabaseException.class)
                    .hasMessageStartingWith("Table exactly_once_claim is missing from ");
        }
    }
}
