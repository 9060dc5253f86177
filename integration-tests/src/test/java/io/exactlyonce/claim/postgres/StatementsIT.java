package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.SynchronousCommit;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What is tried again, and what is not. */
class StatementsIT {

    private static final TestDatabase DATABASE = new TestDatabase(4);

    private final Statements statements = new Statements(DATABASE.pool());
    private final AtomicInteger tries = new AtomicInteger();

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"40P01", "40001"})
    void workThatWasRolledBackForAnotherTransactionIsRepeated(String sqlState) {
        String result = statements.run(connection -> {
            if (tries.incrementAndGet() < 3) {
                fail(connection, sqlState);
            }
            return "done";
        });

        assertThat(result).isEqualTo("done");
        assertThat(tries).hasValue(3);
    }

    @Test
    void endlessDeadlocksAreReported() {
        assertThatThrownBy(() -> failAlways("40P01")).isInstanceOf(ClaimStoreUnavailableException.class);
        assertThat(tries).hasValue(5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"25006", "08006", "57P01", "57P02", "57P03"})
    void workWhoseConnectionIsOfNoUseAnyMoreIsRepeatedOnce(String sqlState) {
        String result = statements.run(connection -> {
            if (tries.incrementAndGet() == 1) {
                fail(connection, sqlState);
            }
            return "done";
        });

        assertThat(result).isEqualTo("done");
    }

    @ParameterizedTest
    @ValueSource(strings = {"25006", "08006", "57P01"})
    void serverThatStaysOfNoUseIsReported(String sqlState) {
        assertThatThrownBy(() -> failAlways(sqlState))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessageContaining("as if");
        assertThat(tries).hasValue(2);
    }

    @Test
    void replyThatDidNotComeInTimeIsNotWaitedForTwice() {
        assertThatThrownBy(() -> statements.<String>run(connection -> {
                    tries.incrementAndGet();
                    throw new SQLException("late", "08006", new SocketTimeoutException("Read timed out"));
                }))
                .isInstanceOf(ClaimStoreUnavailableException.class);
        assertThat(tries).hasValue(1);
    }

    /** The server had committed; its reply was lost with the connection. */
    @Test
    void claimWhoseReplyWasLostIsFoundByItsNextTry() {
        ClaimRequest claim = request();

        assertThat(new PostgresClaimStore(
                                new LosesFirstReply(DATABASE.pool()), TestDatabase.RETENTION, SynchronousCommit.ON)
                        .claim(List.of(claim)))
                .singleElement()
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.attempt()).isEqualTo(1));
        assertThat(DATABASE.row(claim.key())).containsEntry("claim_id", claim.claimId());
    }

    @Test
    void serverThatGivesNoConnectionIsNotAskedAgain() {
        var replicasOnly = new Statements(new DelegatingDataSource(DATABASE.pool()) {
            @Override
            public Connection getConnection() throws SQLException {
                tries.incrementAndGet();
                throw new SQLException("as if only a replica were there", "25006");
            }
        });

        assertThatThrownBy(() -> replicasOnly.<String>run(connection -> "never"))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessage("No connection for claims: as if only a replica were there");
        assertThat(tries).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"23505", "57014", "55P03"})
    void otherFailuresAreTheCallers(String sqlState) {
        assertThatThrownBy(() -> failAlways(sqlState)).isInstanceOf(ClaimStoreUnavailableException.class);
        assertThat(tries).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"22021", "54000"})
    void whatCanNeverBeStoredIsToldApart(String sqlState) {
        assertThatIllegalArgumentException().isThrownBy(() -> failAlways(sqlState));
        assertThat(tries).hasValue(1);
    }

    /** A pool that knows nothing of primaries would hand it out again. */
    @Test
    void connectionToAServerThatTakesNoWritesIsNotUsedAgain() {
        List<Integer> sessions = new ArrayList<>();
        statements.run(connection -> {
            try (Statement statement = connection.createStatement();
                    var session = statement.executeQuery("SELECT pg_backend_pid()")) {
                session.next();
                sessions.add(session.getInt(1));
            }
            if (sessions.size() == 1) {
                fail(connection, "25006");
            }
            return "done";
        });

        assertThat(sessions).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void callersTransactionIsNotJoined() {
        var jdbc = new JdbcTemplate(DATABASE.pool());
        var callers = new TransactionTemplate(new JdbcTransactionManager(DATABASE.pool()));
        ClaimRequest claim = request();
        callers.executeWithoutResult(status -> {
            jdbc.queryForObject("SELECT txid_current()", Long.class);
            new PostgresClaimStore(DATABASE.pool(), TestDatabase.RETENTION, SynchronousCommit.ON).claim(List.of(claim));
            status.setRollbackOnly();
        });

        assertThat(DATABASE.row(claim.key())).containsEntry("status", "HELD");
    }

    private void failAlways(String sqlState) {
        statements.run(connection -> {
            tries.incrementAndGet();
            fail(connection, sqlState);
            return "never";
        });
    }

    private static void fail(Connection connection, String sqlState) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("DO $$ BEGIN RAISE EXCEPTION 'as if' USING ERRCODE = '%s'; END $$".formatted(sqlState));
        }
    }
}
