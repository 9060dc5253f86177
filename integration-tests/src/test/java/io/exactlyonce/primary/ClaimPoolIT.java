package io.exactlyonce.primary;

import static io.exactlyonce.primary.ImpatientPool.refusalOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.postgres.InterruptedDataSource;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.StreamingReplica;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

@ExtendWith(OutputCaptureExtension.class)
class ClaimPoolIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final String URL = SERVER.createDatabase();
    private static StreamingReplica replica;
    private static String replicaUrl;

    @BeforeAll
    static void startReplica() throws Exception {
        replica = new StreamingReplica(SERVER.dataSource(URL), SERVER.port());
        replicaUrl = URL.replace(":" + SERVER.port() + "/", ":" + replica.port() + "/");
    }

    @AfterAll
    static void stopReplica() throws Exception {
        replica.close();
    }

    @Test
    void primaryIsAcceptedAndNamed() {
        try (ClaimPool pool = pool(URL)) {
            PrimaryCheck.Server server = new PrimaryCheck(pool).verify();

            assertThat(server.address()).isEqualTo("127.0.0.1:" + SERVER.port());
            assertThat(server.name())
                    .startsWith("PostgreSQL 18.")
                    .endsWith(", database " + URL.substring(URL.lastIndexOf('/') + 1));
        }
    }

    /** The driver would commit claims with the database's default, whatever is configured for claims. */
    @Test
    void driverThatSendsStatementsApartIsRefused() {
        try (ClaimPool pool = pool(URL + "?preferQueryMode=simple")) {
            ClaimDatabaseException refused = refusalOf(pool);
            assertThat(refused.problem()).contains("in separate transactions (preferQueryMode=simple)");
            assertThat(refused.problem()).contains("in separate transactions");
            assertThat(refused.remedy()).contains("remove preferQueryMode=simple from spring.datasource.url");
        }
    }

    /** Trap: restoring a setting of the closed connection failed as well, and hid the first failure. */
    @Test
    void connectionThatEndsWhileItsStatementsAreCheckedIsReportedWithItsReason() {
        String url = SERVER.createDatabase();
        var others = new JdbcTemplate(SERVER.dataSource(url));
        DataSource ending =
                new InterruptedDataSource(SERVER.dataSource(url), "SELECT 'first", 1, () -> others.queryForList("""
                        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                        """));

        var target = new ClaimPool.Target("spring.datasource.url", url, SERVER.username(), SERVER.password());
        try (ClaimPool pool = ImpatientPool.of(target, ending)) {
            assertThatThrownBy(() -> new PrimaryCheck(pool).verify())
                    .isInstanceOf(ClaimDatabaseException.class)
                    .hasMessageContaining("terminating connection due to administrator command");
        }
    }

    @Test
    void replicaIsRefusedBeforeACallerGetsAConnection() {
        try (ClaimPool pool = pool(replicaUrl)) {
            assertThatThrownBy(pool.dataSource()::getConnection)
                    .isInstanceOf(SQLException.class)
                    .cause()
                    .hasMessageContaining("targetServerType: primary");
        }
    }

    @Test
    void checkDetectsAReplica() {
        try (ClaimPool pool = pool(replicaUrl)) {
            ClaimDatabaseException unavailable = refusalOf(pool);
            assertThat(unavailable.problem())
                    .startsWith("127.0.0.1:" + replica.port() + "/")
                    .contains("does not connect to a primary: the server of plain reads is a replica or read-only");
            assertThat(unavailable.remedy()).contains("point spring.datasource.url at the primary");
        }
    }

    @Test
    void severalHostsLeadToThePrimaryAmongThem() {
        String both = replicaUrl.replace("/test_", ",127.0.0.1:" + SERVER.port() + "/test_");

        try (ClaimPool pool = pool(both)) {
            assertThat(new PrimaryCheck(pool).verify().address()).isEqualTo("127.0.0.1:" + SERVER.port());
        }
    }

    @Test
    void logNamesTheServerAndWhoChoseItButNoPassword(CapturedOutput output) {
        var target = new ClaimPool.Target("exactly-once.datasource.url", URL, SERVER.username(), SERVER.password());
        try (ClaimPool pool = ImpatientPool.of(target)) {
            PrimaryCheck.Server server = new PrimaryCheck(pool).verify();

            assertThat(output)
                    .contains("Claims are kept on 127.0.0.1:%d (%s), a primary".formatted(SERVER.port(), server.name()))
                    .contains("a primary, by exactly-once.datasource")
                    .doesNotContain(SERVER.password());
        }
    }

    @Test
    void databaseThatIsReadOnlyByDefaultIsRefused() {
        String url = SERVER.createDatabase();
        String database = url.substring(url.lastIndexOf('/') + 1);
        new JdbcTemplate(SERVER.dataSource(URL))
                .execute("ALTER DATABASE " + database + " SET default_transaction_read_only = on");

        try (ClaimPool pool = pool(url)) {
            assertThat(refusalOf(pool).problem()).contains("is a replica or read-only");
        }
    }

    @Test
    void connectionsAreReadCommittedWhateverTheDatabasePrefers() throws SQLException {
        try (ClaimPool pool = pool(URL + "?options=-c%20default_transaction_isolation=serializable");
                Connection connection = pool.dataSource().getConnection()) {
            assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
        }
    }

    @Test
    void serverThatRefusesAQuestionIsNotTakenForUnreachable() {
        String url = SERVER.createDatabase();
        String user = "user_" + UUID.randomUUID().toString().replace("-", "");
        JdbcTemplate database = new JdbcTemplate(SERVER.dataSource(url));
        database.execute("CREATE USER %s PASSWORD '%s'".formatted(user, SERVER.password()));
        database.execute("REVOKE EXECUTE ON FUNCTION pg_postmaster_start_time() FROM PUBLIC");

        try (ClaimPool pool = pool(url, user)) {
            ClaimDatabaseException refused = refusalOf(pool);
            assertThat(refused.problem()).contains("rejected the startup check of claims");
            assertThat(refused.remedy()).contains("a user that may connect to it and call its functions");
            assertThat(refused).hasMessageContainingAll("SQLSTATE 42501", "pg_postmaster_start_time");
        }
    }

    private static ClaimPool pool(String url) {
        return pool(url, SERVER.username());
    }

    private static ClaimPool pool(String url, String username) {
        return ImpatientPool.of(new ClaimPool.Target("spring.datasource.url", url, username, SERVER.password()));
    }
}
