package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Claims that occupy all connections except the one for renewals. */
class BusyConnectionsIT {

    private static final int CONNECTIONS = 3;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);

    private final PostgresClaimStore store = DATABASE.store();
    private final ExecutorService handlers = Executors.newCachedThreadPool();

    @AfterEach
    void stopHandlers() {
        handlers.shutdownNow();
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @Test
    void renewalDoesNotWaitBehindClaims() throws Exception {
        ClaimRequest running = request();
        store.claim(List.of(running));
        ClaimKey contended = request().key();
        List<Future<List<ClaimOutcome>>> claims = new ArrayList<>();

        try (Connection blocker = DATABASE.newConnection()) {
            insertWithoutCommit(blocker, contended);
            for (int i = 0; i < CONNECTIONS - 1; i++) {
                claims.add(handlers.submit(() -> store.claim(List.of(request(contended)))));
            }
            Awaitility.await().during(Duration.ofMillis(300)).until(() -> blockedClaims() == CONNECTIONS - 1);

            assertThat(store.renew(List.of(new LeaseRenewal(running.id(), Duration.ofMinutes(2))))
                            .granted())
                    .containsExactly(running.id());
            blocker.rollback();
        }

        int acquired = 0;
        for (Future<List<ClaimOutcome>> claim : claims) {
            acquired += claim.get(10, TimeUnit.SECONDS).get(0) instanceof Acquired ? 1 : 0;
        }
        assertThat(acquired).isEqualTo(1);
    }

    /** The application's transaction may last long, so the claim must not occupy a further connection. */
    @Test
    void callWithinACallersTransactionKeepsNoConnectionAndTakesNoPartInIt() {
        ClaimRequest request = request();
        List<Integer> kept = new ArrayList<>();

        new TransactionTemplate(new JdbcTransactionManager(DATABASE.application())).executeWithoutResult(status -> {
            store.claim(List.of(request));
            kept.add(activeConnections());
            store.renew(List.of(new LeaseRenewal(request.id(), request.lease())));
            kept.add(activeConnections());
            store.resolve(List.of(new ClaimResolution.Completed(request.id(), "1")));
            kept.add(activeConnections());
            store.peek(List.of(request.key()));
            kept.add(activeConnections());
            assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                    .isTrue();
            status.setRollbackOnly();
        });

        assertThat(kept).containsExactly(0, 0, 0, 0);
        assertThat(DATABASE.row(request.key()).get("status")).isEqualTo("COMPLETED");
    }

    private static int activeConnections() {
        return DATABASE.pool().getHikariPoolMXBean().getActiveConnections();
    }

    private static void insertWithoutCommit(Connection connection, ClaimKey key) throws SQLException {
        connection.setAutoCommit(false);
        TestDatabase.insert(
                new JdbcTemplate(new SingleConnectionDataSource(connection, true)),
                new ClaimId(key, UUID.randomUUID()));
    }

    private static int blockedClaims() {
        return DATABASE.jdbc()
                .queryForObject(
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                + " AND application_name = 'exactly-once-claims' AND wait_event_type = 'Lock'",
                        Integer.class);
    }
}
