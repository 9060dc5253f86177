package io.exactlyonce.claim.postgres.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.postgres.LosesFirstCommitReply;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.support.TransactionTemplate;

class RetryingTransactionIT {

    private static final TestDatabase DATABASE = new TestDatabase(4);

    private final JdbcTemplate jdbc = new JdbcTemplate(DATABASE.pool());
    private final RetryingTransaction transaction = new RetryingTransaction(DATABASE.pool());
    private final AtomicInteger tries = new AtomicInteger();

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"40P01", "40001"})
    void workThatWasRolledBackForAnotherTransactionIsRepeated(String sqlState) {
        String result = transaction.execute(() -> {
            if (tries.incrementAndGet() < 3) {
                fail(sqlState);
            }
            return "done";
        });

        assertThat(result).isEqualTo("done");
        assertThat(tries).hasValue(3);
    }

    @Test
    void endlessDeadlocksAreReported() {
        assertThatThrownBy(() -> failAlways("40P01")).isInstanceOf(DataAccessException.class);
        assertThat(tries).hasValue(5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"25006", "08006", "57P01", "57P02", "57P03"})
    void workWhoseConnectionIsOfNoUseAnyMoreIsRepeatedOnce(String sqlState) {
        String result = transaction.execute(() -> {
            if (tries.incrementAndGet() == 1) {
                fail(sqlState);
            }
            return "done";
        });

        assertThat(result).isEqualTo("done");
    }

    @ParameterizedTest
    @ValueSource(strings = {"25006", "08006", "57P01"})
    void serverThatStaysOfNoUseIsReported(String sqlState) {
        assertThatThrownBy(() -> failAlways(sqlState)).isInstanceOf(DataAccessException.class);
        assertThat(tries).hasValue(2);
    }

    @Test
    void replyThatDidNotComeInTimeIsNotWaitedForTwice() {
        assertThatThrownBy(() -> transaction.<String>execute(() -> {
                    tries.incrementAndGet();
                    throw new DataAccessResourceFailureException(
                            "late", new SQLException("late", "08006", new SocketTimeoutException("Read timed out")));
                }))
                .isInstanceOf(DataAccessResourceFailureException.class);
        assertThat(tries).hasValue(1);
    }

    /** The server had committed; its reply was lost with the connection. */
    @Test
    void workWhoseCommitGotNoReplyIsRepeated() {
        var losesReplies = new LosesFirstCommitReply(DATABASE.pool());

        new RetryingTransaction(losesReplies).execute(tries::incrementAndGet);

        assertThat(tries).hasValue(2);
    }

    @Test
    void serverThatGivesNoConnectionIsNotAskedAgain() {
        var replicasOnly = new RetryingTransaction(new DelegatingDataSource(DATABASE.pool()) {
            @Override
            public Connection getConnection() throws SQLException {
                tries.incrementAndGet();
                throw new SQLException("as if only a replica were there", "25006");
            }
        });

        assertThatThrownBy(() -> replicasOnly.<String>execute(() -> "never"))
                .isInstanceOf(CannotCreateTransactionException.class);
        assertThat(tries).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"23505", "57014"})
    void otherFailuresAreTheCallers(String sqlState) {
        assertThatThrownBy(() -> failAlways(sqlState)).isInstanceOf(DataAccessException.class);
        assertThat(tries).hasValue(1);
    }

    @Test
    void callersTransactionIsNotJoined() {
        var callers = new TransactionTemplate(new JdbcTransactionManager(DATABASE.pool()));
        Long own = callers.execute(status -> {
            Long outer = transactionId();
            assertThat(transaction.<Long>execute(this::transactionId)).isNotEqualTo(outer);
            return transactionId();
        });

        assertThat(own).isNotNull();
    }

    private Long transactionId() {
        return jdbc.queryForObject("SELECT txid_current()", Long.class);
    }

    private void failAlways(String sqlState) {
        transaction.execute(() -> {
            tries.incrementAndGet();
            fail(sqlState);
            return "never";
        });
    }

    private void fail(String sqlState) {
        jdbc.execute("DO $$ BEGIN RAISE EXCEPTION 'as if' USING ERRCODE = '%s'; END $$".formatted(sqlState));
    }
}
