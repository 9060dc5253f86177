package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.Threads;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.testing.EmbeddedDatabase;
import java.sql.Connection;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

@ExtendWith(OutputCaptureExtension.class)
class ClaimSchemaIT {

    private final EmbeddedDatabase server = EmbeddedDatabase.shared();
    private final String url = server.createDatabase();
    private final DataSource dataSource = server.dataSource(url);
    private final JdbcTemplate jdbc = new JdbcTemplate(dataSource);
    private final ClaimSchema schema = new ClaimSchema(TestDatabase.table(dataSource));

    @Test
    void instancesThatStartTogetherOnAnEmptyDatabaseAllSucceed() throws Exception {
        Threads.run(8, schema::create);

        assertThatCode(schema::verify).doesNotThrowAnyException();
        assertThat(jdbc.queryForList("SELECT indexname FROM pg_indexes WHERE tablename = 'exactly_once_claim'"))
                .hasSize(3);
    }

    /** The application's user may have no right to create a table. */
    @Test
    void laterStartsLeaveTheTableAloneAndDoNotWait() throws Exception {
        schema.create();
        Long before = tableId();
        String role = role("SELECT, INSERT, UPDATE");

        try (Connection longTransaction = dataSource.getConnection()) {
            longTransaction.setAutoCommit(false);
            longTransaction.createStatement().execute("LOCK TABLE exactly_once_claim IN ROW EXCLUSIVE MODE");

            new ClaimSchema(TestDatabase.table(new DriverManagerDataSource(url, role, server.password()))).create();
        }

        assertThat(tableId()).isEqualTo(before);
    }

    @Test
    void tableThatCouldNotBeCreatedAsAWholeIsNotThereAtAll() {
        jdbc.execute("CREATE VIEW exactly_once_claim_pkey AS SELECT 1");

        assertThatThrownBy(schema::create).isInstanceOf(DataAccessException.class);

        assertThat(tableId()).isNull();
    }

    @Test
    void missingTableIsReportedWithDatabaseAndRemedy() {
        assertThatThrownBy(schema::verify)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageStartingWith("Table exactly_once_claim is missing from database "
                        + url.substring(url.lastIndexOf('/') + 1) + " on 127.0.0.1:" + server.port() + " (user ")
                .hasMessageContaining("exactly-once.claim.initialize-schema=always")
                .hasMessageEndingWith("classpath:io/exactlyonce/claim/postgres/schema/exactly_once_claim.sql");
    }

    @ParameterizedTest
    @ValueSource(strings = {"DROP COLUMN fingerprint", "DROP CONSTRAINT exactly_once_claim_pkey"})
    void tableOfAnotherVersionIsRefusedAndLeftAlone(String difference) {
        schema.create();
        jdbc.execute("ALTER TABLE exactly_once_claim " + difference);
        schema.create();

        assertThatThrownBy(schema::verify)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageStartingWith("Table exactly_once_claim is of another version in database ")
                .hasMessageEndingWith("classpath:io/exactlyonce/claim/postgres/schema/exactly_once_claim.sql");
    }

    /** Tables on which each claim, or each claim of some keys, would fail or be forgotten. */
    static Stream<Arguments> unfitTables() {
        return Stream.of(
                Arguments.of(
                        "ALTER TABLE exactly_once_claim SET UNLOGGED",
                        "exactly_once_claim is unlogged",
                        "ALTER TABLE exactly_once_claim SET LOGGED"),
                Arguments.of(
                        "CREATE TABLE child () INHERITS (exactly_once_claim)",
                        "exactly_once_claim has tables that inherit from it",
                        "ALTER TABLE ... NO INHERIT exactly_once_claim"),
                Arguments.of(
                        "ALTER TABLE exactly_once_claim RENAME TO kept;"
                                + "CREATE VIEW exactly_once_claim AS SELECT * FROM kept",
                        "exactly_once_claim is not a table",
                        "keep claims in a table that the script creates"),
                Arguments.of(
                        "ALTER TABLE exactly_once_claim RENAME TO kept;"
                                + "CREATE TABLE partitioned (LIKE kept INCLUDING ALL) PARTITION BY LIST (scope);"
                                + "CREATE TABLE exactly_once_claim PARTITION OF partitioned DEFAULT",
                        "exactly_once_claim is one partition of another table",
                        "set exactly-once.claim.table-name to the partitioned table"),
                Arguments.of(
                        partitionedBy("HASH (scope)"),
                        "exactly_once_claim has no partition for some remainders",
                        "MODULUS ..., REMAINDER ..."),
                Arguments.of(
                        partitionedBy("HASH (scope)") + partition("p0", "FOR VALUES WITH (MODULUS 2, REMAINDER 0)"),
                        "exactly_once_claim has no partition for some remainders",
                        "PARTITION OF exactly_once_claim FOR VALUES WITH"),
                Arguments.of(
                        partitionedBy("LIST (scope)") + partition("p0", "FOR VALUES IN ('orders')"),
                        "exactly_once_claim has no default partition",
                        "CREATE TABLE ... PARTITION OF exactly_once_claim DEFAULT"),
                Arguments.of(
                        partitionedBy("RANGE (scope)") + partition("p0", "FOR VALUES FROM ('a') TO ('z')"),
                        "exactly_once_claim has no default partition",
                        "CREATE TABLE ... PARTITION OF exactly_once_claim DEFAULT"),
                Arguments.of(
                        partitionedBy("LIST (scope)") + partition("p0", "DEFAULT") + "ALTER TABLE p0 SET UNLOGGED",
                        "p0 is unlogged",
                        "ALTER TABLE p0 SET LOGGED"),
                Arguments.of(
                        partitionedBy("LIST (scope)") + partition("p0", "DEFAULT PARTITION BY HASH (key)"),
                        "p0 has no partition for some remainders",
                        "PARTITION OF p0 FOR VALUES WITH"),
                Arguments.of(
                        partitionedBy("LIST (scope)") + partition("p0", "DEFAULT")
                                + "ALTER TABLE exactly_once_claim DETACH PARTITION p0",
                        "exactly_once_claim has no default partition",
                        "CREATE TABLE ... PARTITION OF exactly_once_claim DEFAULT"));
    }

    private static String partitionedBy(String columns) {
        return "ALTER TABLE exactly_once_claim RENAME TO kept;"
                + "CREATE TABLE exactly_once_claim (LIKE kept INCLUDING ALL) PARTITION BY " + columns + ";";
    }

    private static String partition(String name, String bounds) {
        return "CREATE TABLE " + name + " PARTITION OF exactly_once_claim " + bounds + ";";
    }

    @ParameterizedTest
    @MethodSource("unfitTables")
    void tableThatCannotKeepAllKeysIsRefused(String statements, String problem, String remedy) {
        schema.create();
        jdbc.execute(statements);

        assertThatThrownBy(schema::verify)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageStartingWith("Table exactly_once_claim cannot keep claims: " + problem)
                .hasMessageContaining("in database " + url.substring(url.lastIndexOf('/') + 1))
                .hasMessageContaining(remedy);
    }

    static Stream<String> completePartitions() {
        return Stream.of(
                partitionedBy("RANGE (scope)") + partition("p0", "DEFAULT"),
                partitionedBy("HASH (key)")
                        + partition("p0", "FOR VALUES WITH (MODULUS 2, REMAINDER 0)")
                        + partition("p1", "FOR VALUES WITH (MODULUS 4, REMAINDER 1)")
                        + partition("p3", "FOR VALUES WITH (MODULUS 4, REMAINDER 3)"));
    }

    @ParameterizedTest
    @MethodSource("completePartitions")
    void tableWithAPartitionForEachKeyIsAccepted(String statements) {
        schema.create();
        jdbc.execute(statements);

        assertThatCode(schema::verify).doesNotThrowAnyException();
    }

    /** Startup accepts a table that works. */
    @Test
    void partitionWithoutAnIndexIsReported(CapturedOutput output) {
        schema.create();
        TestDatabase.partition(jdbc);
        schema.verify();
        assertThat(output).doesNotContain("has no index");
        jdbc.execute("DROP INDEX exactly_once_claim_expires_at;"
                + "CREATE INDEX ON exactly_once_claim_0 (expires_at) WHERE parked_at IS NULL");

        schema.verify();

        assertThat(output).contains("Table exactly_once_claim_1 has no index on expires_at or none on parked_at");
    }

    /** A policy could hide completed keys from a role that is neither superuser nor owner. */
    @Test
    void tableBehindRowLevelSecurityIsRefused() {
        schema.create();
        DataSource claims = new DriverManagerDataSource(url, role("SELECT, INSERT, UPDATE, DELETE"), server.password());
        ClaimSchema seen = new ClaimSchema(TestDatabase.table(claims));
        assertThatCode(seen::verify).doesNotThrowAnyException();

        jdbc.execute("ALTER TABLE exactly_once_claim ENABLE ROW LEVEL SECURITY");

        assertThatThrownBy(seen::verify)
                .isInstanceOf(ClaimDatabaseException.class)
                .hasMessageContaining("exactly_once_claim is behind row-level security")
                .hasMessageContaining("ALTER TABLE exactly_once_claim DISABLE ROW LEVEL SECURITY");
        assertThatCode(schema::verify).as("of the owner").doesNotThrowAnyException();
    }

    private String role(String privileges) {
        String role = "role_" + url.substring(url.lastIndexOf('_') + 1);
        jdbc.execute("CREATE ROLE %s LOGIN PASSWORD '%s'".formatted(role, server.password()));
        jdbc.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        jdbc.execute("GRANT " + privileges + " ON exactly_once_claim TO " + role);
        return role;
    }

    private Long tableId() {
        return jdbc.queryForObject("SELECT to_regclass('exactly_once_claim')::oid::bigint", Long.class);
    }
}
