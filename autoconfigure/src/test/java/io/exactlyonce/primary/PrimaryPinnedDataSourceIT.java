package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.postgres.InterruptedDataSource;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.StreamingReplica;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.postgresql.jdbc.PreferQueryMode;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

@ExtendWith(OutputCaptureExtension.class)
class PrimaryPinnedDataSourceIT {

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
        try (PrimaryPinnedDataSource pool = pool(URL)) {
            DatabaseServer server = new PrimaryProbe(pool).verify();

            assertThat(server.address()).isEqualTo("127.0.0.1:" + SERVER.port());
            assertThat(server.version()).startsWith("18.");
            assertThat(server.database()).isEqualTo(URL.substring(URL.lastIndexOf('/') + 1));
        }
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "SIMPLE")
    void primaryIsAcceptedHoweverTheDriverPreparesStatements(PreferQueryMode mode) {
        try (PrimaryPinnedDataSource pool = pool(URL + "?preferQueryMode=" + mode.value())) {
            assertThatNoException().isThrownBy(() -> new PrimaryProbe(pool).verify());
        }
    }

    /** It would commit claims as the database does by default, whatever is configured for them. */
    @Test
    void driverThatSendsStatementsApartIsRefused() {
        try (PrimaryPinnedDataSource pool = pool(URL + "?preferQueryMode=simple")) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .isInstanceOfSatisfying(PrimaryUnavailableException.class, refused -> {
                        assertThat(refused.problem()).contains("in transactions of their own (preferQueryMode=simple)");
                        assertThat(refused.problem()).contains("in transactions of their own");
                        assertThat(refused.remedy())
                                .contains("remove preferQueryMode=simple from spring.datasource.url");
                    });
        }
    }

    /** Trap: what was to be set back on the closed connection failed as well, and was told instead. */
    @Test
    void connectionThatEndsWhileItsStatementsAreCheckedIsToldWithItsReason() {
        String url = SERVER.createDatabase();
        var others = new JdbcTemplate(SERVER.dataSource(url));
        DataSource ending =
                new InterruptedDataSource(SERVER.dataSource(url), "SELECT 1", 1, () -> others.queryForList("""
                        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                        WHERE datname = current_database() AND pid <> pg_backend_pid()
                        """));

        var target = new ConnectionTarget(ConnectionTarget.Source.APPLICATION, url, SERVER.username(), null);
        try (PrimaryPinnedDataSource pool = ImpatientPool.of(target, ending)) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .isInstanceOf(PrimaryUnavailableException.class)
                    .hasMessageContaining("terminating connection due to administrator command");
        }
    }

    @Test
    void replicaIsRefusedBeforeACallerGetsAConnection() {
        try (PrimaryPinnedDataSource pool = pool(replicaUrl)) {
            assertThatThrownBy(pool::getConnection)
                    .isInstanceOf(SQLException.class)
                    .cause()
                    .isInstanceOfSatisfying(NotPrimaryException.class, refused -> {
                        assertThat(refused.server()).isEqualTo("127.0.0.1:" + replica.port());
                        assertThat(refused.getSQLState()).isEqualTo("25006");
                    })
                    .hasMessageContaining("pg_is_in_recovery() is true")
                    .hasMessageContaining("targetServerType=primary");
        }
    }

    @Test
    void refusedConnectionsAreClosed() {
        try (PrimaryPinnedDataSource pool = pool(replicaUrl)) {
            assertThatThrownBy(pool::getConnection).isInstanceOf(SQLException.class);
        }

        var replicaDirectly = new JdbcTemplate(SERVER.dataSource(replicaUrl));
        Awaitility.await()
                .untilAsserted(() -> assertThat(replicaDirectly.queryForList(
                                "SELECT pid FROM pg_stat_activity WHERE application_name = 'exactly-once-claims'"))
                        .isEmpty());
    }

    @Test
    void probeTellsAReplica() {
        try (PrimaryPinnedDataSource pool = pool(replicaUrl)) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .isInstanceOfSatisfying(PrimaryUnavailableException.class, unavailable -> {
                        assertThat(unavailable.problem()).contains("which is a replica or read-only");
                        assertThat(unavailable.problem()).contains("127.0.0.1:" + replica.port());
                    })
                    .hasMessageContaining("targetServerType=primary");
        }
    }

    @Test
    void severalHostsLeadToThePrimaryAmongThem() {
        String both = replicaUrl.replace("/test_", ",127.0.0.1:" + SERVER.port() + "/test_");

        try (PrimaryPinnedDataSource pool = pool(both)) {
            assertThat(new PrimaryProbe(pool).verify().address()).isEqualTo("127.0.0.1:" + SERVER.port());
        }
    }

    @Test
    void logNamesTheServerAndWhoChoseItButNoPassword(CapturedOutput output) {
        var target = new ConnectionTarget(ConnectionTarget.Source.PROPERTIES, URL, SERVER.username(), "secret");
        try (PrimaryPinnedDataSource pool = ImpatientPool.of(target)) {
            DatabaseServer server = new PrimaryProbe(pool).verify();

            assertThat(output)
                    .contains("Claims are kept in database %s on 127.0.0.1:%d, PostgreSQL %s, a primary"
                            .formatted(server.database(), SERVER.port(), server.version()))
                    .contains("connections come from exactly-once.datasource")
                    .doesNotContain("secret");
        }
    }

    @Test
    void databaseThatIsReadOnlyByDefaultIsRefused() {
        String url = SERVER.createDatabase();
        String database = url.substring(url.lastIndexOf('/') + 1);
        new JdbcTemplate(SERVER.dataSource(URL))
                .execute("ALTER DATABASE " + database + " SET default_transaction_read_only = on");

        try (PrimaryPinnedDataSource pool = pool(url)) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .isInstanceOfSatisfying(
                            PrimaryUnavailableException.class,
                            unavailable ->
                                    assertThat(unavailable.problem()).contains("which is a replica or read-only"))
                    .rootCause()
                    .hasMessageContaining("default_transaction_read_only");
        }
    }

    @Test
    void connectionsAreReadCommittedWhateverTheDatabasePrefers() throws SQLException {
        try (PrimaryPinnedDataSource pool = pool(URL + "?options=-c%20default_transaction_isolation=serializable");
                Connection connection = pool.getConnection()) {
            assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
        }
    }

    @Test
    void unknownUserIsReportedAsUnreachable() {
        try (PrimaryPinnedDataSource pool = pool(URL, "stranger")) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .isInstanceOfSatisfying(
                            PrimaryUnavailableException.class,
                            unavailable -> assertThat(unavailable.problem()).contains("No connection to"))
                    .hasMessageContaining("\"stranger\" does not exist");
        }
    }

    @Test
    void serverThatRefusesAQuestionIsNotTakenForUnreachable() {
        String url = SERVER.createDatabase();
        String user = "user_" + UUID.randomUUID().toString().replace("-", "");
        JdbcTemplate database = new JdbcTemplate(SERVER.dataSource(url));
        database.execute("CREATE USER " + user);
        database.execute("REVOKE EXECUTE ON FUNCTION pg_postmaster_start_time() FROM PUBLIC");

        try (PrimaryPinnedDataSource pool = pool(url, user)) {
            assertThatThrownBy(() -> new PrimaryProbe(pool).verify())
                    .isInstanceOfSatisfying(PrimaryUnavailableException.class, refused -> {
                        assertThat(refused.problem()).contains("refused what claims ask it at the start");
                        assertThat(refused.remedy()).contains("a user that may connect to it and call its functions");
                    })
                    .hasMessageContainingAll("SQLSTATE 42501", "pg_postmaster_start_time");
        }
    }

    private static PrimaryPinnedDataSource pool(String url) {
        return pool(url, SERVER.username());
    }

    private static PrimaryPinnedDataSource pool(String url, String username) {
        return ImpatientPool.of(
                new ConnectionTarget(ConnectionTarget.Source.APPLICATION, url, username, SERVER.password()));
    }
}
