package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.Threads;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.testing.EmbeddedDatabase;
import java.sql.Connection;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

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

    /** Also where the application's user has no right to create one. */
    @Test
    void laterStartsLeaveTheTableAloneAndDoNotWait() throws Exception {
        schema.create();
        Long before = tableId();
        String role = role("SELECT, INSERT, UPDATE");

        try (Connection longTransaction = dataSource.getConnection()) {
            longTransaction.setAutoCommit(false);
            longTransaction.createStatement().execute("LOCK TABLE exactly_once_claim IN ROW EXCLUSIVE MODE");

            new ClaimSchema(TestDatabase.table(new DriverManagerDataSource(url, role, ""))).create();
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

    private String role(String privileges) {
        String role = "role_" + url.substring(url.lastIndexOf('_') + 1);
        jdbc.execute("CREATE ROLE " + role + " LOGIN");
        jdbc.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        jdbc.execute("GRANT " + privileges + " ON exactly_once_claim TO " + role);
        return role;
    }

    private Long tableId() {
        return jdbc.queryForObject("SELECT to_regclass('exactly_once_claim')::oid::bigint", Long.class);
    }
}
