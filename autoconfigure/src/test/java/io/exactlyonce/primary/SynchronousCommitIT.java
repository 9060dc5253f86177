package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.testing.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** A database whose own default is to lose commits. */
class SynchronousCommitIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final String URL = SERVER.createDatabase();

    @BeforeAll
    static void commitsAreNotDurableByDefault() {
        DataSource database = SERVER.dataSource(URL);
        String name = URL.substring(URL.lastIndexOf('/') + 1);
        new JdbcTemplate(database).execute("ALTER DATABASE " + name + " SET synchronous_commit = off");
        assertThat(settingOf(database)).isEqualTo("off");
    }

    @ParameterizedTest
    @CsvSource({"ON, on", "REMOTE_APPLY, remote_apply", "REMOTE_WRITE, remote_write", "LOCAL, local"})
    void commitsOfClaimsWaitForWhatIsConfigured(SynchronousCommit configured, String setting) throws SQLException {
        var target = new ConnectionTarget(PoolSource.APPLICATION, URL, SERVER.username(), SERVER.password());
        try (var pool = new PrimaryPinnedDataSource(target, 2, configured);
                Connection first = pool.getConnection();
                Connection second = pool.getConnection()) {
            assertThat(settingOf(first)).isEqualTo(setting);
            assertThat(settingOf(second)).isEqualTo(setting);
        }
    }

    @Test
    void rollbackDoesNotTakeItBack() throws SQLException {
        var target = new ConnectionTarget(PoolSource.APPLICATION, URL, SERVER.username(), SERVER.password());
        try (var pool = new PrimaryPinnedDataSource(target, 2, SynchronousCommit.ON);
                Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            connection.rollback();

            assertThat(settingOf(connection)).isEqualTo("on");
        }
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void poolOfSomebodyElseIsSetToo(boolean autoCommit) throws SQLException {
        var foreign = new SingleConnectionDataSource(URL, SERVER.username(), SERVER.password(), true);
        foreign.setAutoCommit(autoCommit);
        try (var pool = PrimaryPinnedDataSource.around(foreign, 2, SynchronousCommit.ON)) {
            try (Connection connection = pool.getConnection()) {
                if (!autoCommit) {
                    connection.rollback();
                }
                assertThat(settingOf(connection)).isEqualTo("on");
            }
        } finally {
            foreign.destroy();
        }
    }

    private static String settingOf(Connection connection) {
        return settingOf(new SingleConnectionDataSource(connection, true));
    }

    private static String settingOf(DataSource dataSource) {
        return new JdbcTemplate(dataSource).queryForObject("SHOW synchronous_commit", String.class);
    }
}
