package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Sessions that refuse writes, like sessions to a demoted primary, while new sessions accept them. */
class FailoverIT {

    private static final int CONNECTIONS = 4;

    private final TestDatabase database = new TestDatabase(CONNECTIONS);
    private final PostgresClaimStore store = database.store();

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void everyCallSucceedsOnAFreshConnection() throws SQLException {
        assertEveryCallSucceedsAfter(this::makeSessionsReadOnly);
    }

    /** Connections that were used recently, so the pool returns them without a check. */
    @Test
    void everyCallSucceedsWhenAllSessionsHaveEnded() throws SQLException {
        assertEveryCallSucceedsAfter(this::endSessions);
    }

    private interface Failover {
        void happens() throws SQLException;
    }

    private void assertEveryCallSucceedsAfter(Failover failover) throws SQLException {
        ClaimRequest completed = request();
        ClaimRequest released = request();

        failover.happens();
        assertThat(store.claim(List.of(completed, released))).hasOnlyElementsOfType(Acquired.class);
        failover.happens();
        assertThat(store.renew(List.of(new LeaseRenewal(completed.id(), Duration.ofMinutes(2))))
                        .granted())
                .containsExactly(completed.id());
        failover.happens();
        assertThat(store.resolve(List.of(new ClaimResolution.Completed(completed.id(), "1")))
                        .granted())
                .containsExactly(completed.id());
        failover.happens();
        assertThat(store.resolve(List.of(new ClaimResolution.Released(released.id(), "failed", false)))
                        .granted())
                .containsExactly(released.id());
        failover.happens();
        assertThat(store.peek(List.of(completed.key(), released.key())))
                .containsEntry(completed.key(), KeyState.completed(null))
                .containsEntry(released.key(), KeyState.FREE);
    }

    @Test
    void everyCallCanLoseTheReplyToItsCommit() {
        ClaimRequest completed = request();

        assertThat(losingReplies().claim(List.of(completed))).hasOnlyElementsOfType(Acquired.class);
        assertThat(losingReplies()
                        .renew(List.of(new LeaseRenewal(completed.id(), Duration.ofMinutes(2))))
                        .granted())
                .containsExactly(completed.id());
        assertThat(losingReplies()
                        .resolve(List.of(new ClaimResolution.Completed(completed.id(), "1")))
                        .granted())
                .containsExactly(completed.id());
        assertThat(database.row(completed.key())).containsEntry("status", "COMPLETED");
    }

    private PostgresClaimStore losingReplies() {
        return TestDatabase.store(new LosesFirstReply(database.pool()));
    }

    @Test
    void storeWorksAsSoonAsTheServerTakesWritesAgain() throws SQLException {
        makeSessionsReadOnly();
        setReadOnly("on");
        assertThatThrownBy(() -> store.claim(List.of(request())))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasStackTraceContaining("targetServerType: primary");

        setReadOnly("off");
        assertThat(store.claim(List.of(request()))).hasOnlyElementsOfType(Acquired.class);
    }

    private void makeSessionsReadOnly() throws SQLException {
        for (Connection connection : borrowAll()) {
            try (connection;
                    Statement statement = connection.createStatement()) {
                statement.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY");
            }
        }
    }

    private void endSessions() throws SQLException {
        for (Connection connection : borrowAll()) {
            connection.close();
        }
        database.jdbc().queryForList("""
                SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'exactly-once-claims'
                """);
    }

    private List<Connection> borrowAll() throws SQLException {
        List<Connection> all = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            all.add(database.pool().getConnection());
        }
        return all;
    }

    /** The setting applies to new sessions. */
    private void setReadOnly(String value) throws SQLException {
        try (Connection connection = database.newConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET default_transaction_read_only = off");
            statement.execute("ALTER DATABASE %s SET default_transaction_read_only = %s"
                    .formatted(connection.getCatalog(), value));
        }
    }
}
