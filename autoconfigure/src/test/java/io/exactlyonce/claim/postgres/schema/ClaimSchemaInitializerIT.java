package io.exactlyonce.claim.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.Threads;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.schema.ClaimSchemaException.Reason;
import io.exactlyonce.testing.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

class ClaimSchemaInitializerIT {

    private final EmbeddedDatabase server = EmbeddedDatabase.shared();
    private final String url = server.createDatabase();
    private final DataSource dataSource = server.dataSource(url);
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private final ClaimSchemaValidator probe = new ClaimSchemaValidator(dataSource);

    @Test
    void instancesThatStartTogetherOnAnEmptyDatabaseAllSucceed() throws Exception {
        Threads.run(8, () -> initialize(DatabaseInitializationMode.ALWAYS));

        assertThatCode(probe::verify).doesNotThrowAnyException();
    }

    @Test
    void laterStartsLeaveTheTableAlone() {
        initialize(DatabaseInitializationMode.ALWAYS);
        Long before = tableId();

        initialize(DatabaseInitializationMode.ALWAYS);

        assertThat(tableId()).isEqualTo(before);
    }

    @Test
    void neverLeavesTheDatabaseAlone() {
        assertThat(initialize(DatabaseInitializationMode.NEVER)).isFalse();

        assertThat(tableId()).isNull();
    }

    @Test
    void missingTableIsReportedWithDatabaseAndRemedy() {
        assertThatThrownBy(probe::verify)
                .isInstanceOfSatisfying(ClaimSchemaException.class, missing -> {
                    assertThat(missing.reason()).isEqualTo(Reason.MISSING);
                    assertThat(missing.table()).isEqualTo("exactly_once_claim");
                    assertThat(missing.database()).contains(url.substring(url.lastIndexOf('/') + 1));
                })
                .hasMessageContaining("127.0.0.1:" + server.port())
                .hasMessageContaining("exactly-once.claim.initialize-schema=always")
                .hasMessageContaining("classpath:io/exactlyonce/claim/postgres/schema/v1/exactly_once_claim.sql")
                .hasMessageContaining("classpath:io/exactlyonce/claim/postgres/schema/v2/exactly_once_claim.sql");
    }

    @Test
    void tableWithoutItsPrimaryKeyIsRefused() {
        initialize(DatabaseInitializationMode.ALWAYS);
        jdbc.execute("ALTER TABLE exactly_once_claim DROP CONSTRAINT exactly_once_claim_pkey");

        assertThatThrownBy(probe::verify).isInstanceOf(DataAccessException.class);
    }

    @Test
    void readOnlyUserIsRefused() {
        initialize(DatabaseInitializationMode.ALWAYS);
        String role = "reader_" + url.substring(url.lastIndexOf('_') + 1);
        jdbc.execute("CREATE ROLE " + role + " LOGIN");
        jdbc.execute("GRANT SELECT ON exactly_once_claim TO " + role);

        var reader = new DriverManagerDataSource(url, role, "");

        assertThatThrownBy(() -> new ClaimSchemaValidator(reader).verify())
                .isInstanceOf(DataAccessException.class)
                .rootCause()
                .hasMessageContaining("permission denied");
    }

    @Test
    void tableOfVersionOneIsBroughtForwardWithItsRows() {
        createVersionOne();
        insertByVersionOne("completed", "COMPLETED");
        insertByVersionOne("held", "HELD");
        insertByVersionOne("parked", "PARKED");

        initialize(DatabaseInitializationMode.ALWAYS);

        assertThatCode(probe::verify).doesNotThrowAnyException();
        assertThat(jdbc.queryForList(
                        "SELECT key FROM exactly_once_claim WHERE expires_at BETWEEN now() + interval '13 days 23 hours'"
                                + " AND now() + interval '15 days' ORDER BY key",
                        String.class))
                .containsExactly("completed", "held", "parked");
        assertThat(jdbc.queryForList("SELECT key FROM exactly_once_claim WHERE parked_at IS NOT NULL", String.class))
                .containsExactly("parked");
        var store = new PostgresClaimStore(dataSource, TestDatabase.RETENTION);
        assertThat(store.claim(Stream.of("completed", "held", "parked")
                        .map(key -> TestDatabase.request(new ClaimKey("orders", key)))
                        .toList()))
                .hasExactlyElementsOfTypes(AlreadyCompleted.class, HeldElsewhere.class, Parked.class);
    }

    /** While instances are replaced one by one, those of the earlier version go on. */
    @Test
    void statementsOfVersionOneWorkOnTheTableOfToday() {
        initialize(DatabaseInitializationMode.ALWAYS);

        insertByVersionOne("new", "HELD");

        assertThat(jdbc.update("UPDATE exactly_once_claim SET status = 'COMPLETED', completed_at = clock_timestamp()"))
                .isOne();
        assertThat(jdbc.queryForObject(
                        "SELECT expires_at - claimed_at BETWEEN interval '13 days 23 hours' AND interval '14 days 1 hour'"
                                + " FROM exactly_once_claim",
                        Boolean.class))
                .isTrue();
    }

    @Test
    void tableOfVersionOneIsRefusedWhereTheDatabaseIsLeftAlone() {
        createVersionOne();
        initialize(DatabaseInitializationMode.NEVER);

        assertThatThrownBy(probe::verify)
                .isInstanceOfSatisfying(ClaimSchemaException.class, outdated -> {
                    assertThat(outdated.reason()).isEqualTo(Reason.OUTDATED);
                    assertThat(outdated.found()).isOne();
                    assertThat(outdated.needed()).isEqualTo(2);
                    assertThat(outdated.remedy())
                            .contains("initialize-schema=always", "schema/v2/exactly_once_claim.sql")
                            .doesNotContain("schema/v1/");
                })
                .hasMessageContaining("has version 1, and version 2 is needed");
    }

    @Test
    void startOnATableThatIsUpToDateDoesNotWait() throws Exception {
        initialize(DatabaseInitializationMode.ALWAYS);

        whileLocked(
                "SELECT 1 FROM exactly_once_claim",
                () -> assertThat(catchThrowable(() -> initialize(DatabaseInitializationMode.ALWAYS)))
                        .isNull());
    }

    @Test
    void longTransactionOnTheTableStopsTheMigrationInsteadOfAllClaims() throws Exception {
        createVersionOne();

        whileLocked(
                "SELECT 1 FROM exactly_once_claim",
                () -> assertThatThrownBy(() -> initialize(DatabaseInitializationMode.ALWAYS))
                        .isInstanceOfSatisfying(
                                ClaimSchemaException.class,
                                locked -> assertThat(locked.reason()).isEqualTo(Reason.LOCKED))
                        .hasMessageContaining("Version 1 of table exactly_once_claim")
                        .hasMessageContaining("could not be brought to version 2 within 3 s")
                        .hasMessageContaining("pg_stat_activity"));

        assertThat(ClaimSchema.found(jdbc)).isOne();
        initialize(DatabaseInitializationMode.ALWAYS);
        assertThat(ClaimSchema.found(jdbc)).isEqualTo(2);
    }

    /** Such a pool gives up a connection that says nothing for longer than a second. */
    @Test
    void waitForAnotherInstanceThatMigratesMayBeLongerThanThePoolIsPatient() throws Exception {
        var impatient = new DriverManagerDataSource(url + "?socketTimeout=1", server.username(), "");
        try (Connection other = dataSource.getConnection()) {
            other.setAutoCommit(false);
            other.createStatement().execute("SELECT pg_advisory_xact_lock(7317441206845101)");
            CompletableFuture<Void> start = CompletableFuture.runAsync(() ->
                    new ClaimSchemaInitializer(impatient, DatabaseInitializationMode.ALWAYS).initializeDatabase());
            await().during(Duration.ofMillis(1500))
                    .atMost(Duration.ofSeconds(10))
                    .until(() -> !start.isDone());
            other.rollback();

            start.get(10, TimeUnit.SECONDS);
        }
        assertThat(ClaimSchema.found(jdbc)).isEqualTo(2);
    }

    private void whileLocked(String statement, Runnable action) throws SQLException {
        try (Connection longTransaction = dataSource.getConnection()) {
            longTransaction.setAutoCommit(false);
            longTransaction.createStatement().execute(statement);
            action.run();
            longTransaction.rollback();
        }
    }

    private void createVersionOne() {
        new ResourceDatabasePopulator(new DefaultResourceLoader().getResource(ClaimSchemaInitializer.SCRIPTS.get(0)))
                .execute(dataSource);
    }

    /** The first version's own statement, for one row. */
    private void insertByVersionOne(String key, String status) {
        jdbc.update("""
                INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, ambiguous,
                                                lease_until, first_claimed_at, claimed_at)
                SELECT 'orders', ?, ?, ?, 'worker', 1, (extract(epoch FROM clock.reading) * 1000000)::bigint, false,
                       clock.reading + interval '1 minute', clock.reading, clock.reading
                FROM (SELECT clock_timestamp() AS reading) AS clock
                ON CONFLICT (scope, key) DO NOTHING
                """, key, status, UUID.randomUUID());
    }

    private boolean initialize(DatabaseInitializationMode mode) {
        return new ClaimSchemaInitializer(dataSource, mode).initializeDatabase();
    }

    private Long tableId() {
        return new JdbcTemplate(dataSource)
                .queryForObject("SELECT to_regclass('exactly_once_claim')::oid::bigint", Long.class);
    }
}
