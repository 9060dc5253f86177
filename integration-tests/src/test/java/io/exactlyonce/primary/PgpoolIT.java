package io.exactlyonce.primary;

import static io.exactlyonce.primary.ImpatientPool.refusalOf;
import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.testing.ConnectionProxy;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.NeedsProgram;
import io.exactlyonce.testing.StreamingReplica;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** Claims behind a real Pgpool-II, which stands in front of a primary and a replica that lags by seconds. */
@NeedsProgram(value = "pgpool", debianPackage = "pgpool2")
class PgpoolIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final String URL = SERVER.createDatabase();
    private static final String READS_GO_TO_REPLICA = "load_balance_mode = on\nbackend_weight0 = 0\n";

    private static StreamingReplica replica;

    @BeforeAll
    static void startReplica() throws Exception {
        replica = new StreamingReplica(SERVER.dataSource(URL), SERVER.port(), "balanced", Duration.ofSeconds(3));
    }

    @AfterAll
    static void stopReplica() throws Exception {
        replica.close();
    }

    @Test
    void readsThatGoToTheReplicaFailStartup() throws Exception {
        try (var pgpool = ConnectionProxy.pgpool(replica, READS_GO_TO_REPLICA)) {
            var plain = new JdbcTemplate(SERVER.dataSource(pgpool.lead(URL)));
            assertThat(plain.queryForObject("SELECT pg_is_in_recovery()", Boolean.class))
                    .as("the usual guard")
                    .isFalse();
            assertThat(plain.queryForObject("SELECT current_setting('transaction_read_only')", String.class))
                    .as("where plain reads go")
                    .isEqualTo("on");

            assertRefused(pgpool, "does not connect to a primary: the server of plain reads is a replica or read-only");
        }
    }

    /** Each of the many reads goes to a random server, so either problem may be detected first. */
    @Test
    void readsThatAreBalancedByStatementFailStartup() throws Exception {
        try (var pgpool =
                ConnectionProxy.pgpool(replica, "load_balance_mode = on\nstatement_level_load_balance = on\n")) {
            assertRefused(
                    pgpool,
                    "connects to more than one server: server 127.0.0.1:%d answers plain reads and 127.0.0.1:%d other statements"
                            .formatted(replica.port(), SERVER.port()),
                    "does not connect to a primary: the server of plain reads is a replica or read-only");
        }
    }

    @Test
    void withoutBalancingItIsAccepted() throws Exception {
        assertAccepted("load_balance_mode = off", "");
    }

    /**
     * Follows docs/postgresql.md: the driver sends the application's name in the startup packet, which Pgpool-II reads.
     */
    @Test
    void itIsAcceptedIfReadsOfClaimsAreRedirectedToThePrimary() throws Exception {
        assertAccepted(
                READS_GO_TO_REPLICA + "app_name_redirect_preference_list = 'exactly-once-claims:primary'",
                "?assumeMinServerVersion=9.0");
    }

    private static void assertAccepted(String settings, String parameters) throws Exception {
        try (var pgpool = ConnectionProxy.pgpool(replica, settings);
                var claims = pool(pgpool.lead(URL) + parameters)) {
            assertThat(new PrimaryCheck(claims).verify().address()).isEqualTo("127.0.0.1:" + SERVER.port());
        }
    }

    private static void assertRefused(ConnectionProxy pgpool, String... problems) {
        try (var claims = pool(pgpool.lead(URL))) {
            ClaimDatabaseException refused = refusalOf(claims);
            assertThat(problems)
                    .anySatisfy(problem -> assertThat(refused.problem()).contains(problem));
            assertThat(refused.remedy()).contains("datasource.url at the primary, not at a proxy that splits reads");
        }
    }

    private static ClaimPool pool(String url) {
        return ImpatientPool.of(
                new ClaimPool.Target("spring.datasource.url", url, SERVER.username(), SERVER.password()));
    }
}
