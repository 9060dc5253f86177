package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Statements that are repeated, and statements that are not. */
class StatementsIT {

    private static final TestDatabase DATABASE = new TestDatabase(4);

    private final Statements statements = DATABASE.table().statements();
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

    @ParameterizedTest(name = "{2}")
    @CsvSource({
        "40P01, 5, endless deadlocks",
        "25006, 2, a server that stays read-only",
        "08006, 2, a server that stays away",
        "57P01, 2, a server that shuts down again",
        "23505, 1, a constraint",
        "57014, 1, a statement that was cancelled",
        "55P03, 1, a lock timeout"
    })
    void failureThatStaysIsReportedAfterItsTries(String sqlState, int expected, String what) {
        assertThatThrownBy(() -> failAlways(sqlState))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessageContaining("as if");
        assertThat(tries).hasValue(expected);
    }

    @Test
    void serverThatGivesNoConnectionIsNotTriedAgain() {
        var replicasOnly = TestDatabase.table(new DelegatingDataSource(DATABASE.pool()) {
                    @Override
                    public Connection getConnection() throws SQLException {
                        tries.incrementAndGet();
                        throw new SQLException("as if only a replica were there", "25006");
                    }
                })
                .statements();

        assertThatThrownBy(() -> replicasOnly.<String>run(connection -> "never"))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasMessage("No connection for claims: as if only a replica were there");
        assertThat(tries).hasValue(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"22021", "54000"})
    void whatCanNeverBeStoredIsDistinguished(String sqlState) {
        assertThatIllegalArgumentException().isThrownBy(() -> failAlways(sqlState));
        assertThat(tries).hasValue(1);
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
