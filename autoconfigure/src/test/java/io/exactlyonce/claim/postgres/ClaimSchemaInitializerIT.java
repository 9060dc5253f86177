package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.Threads;
import io.exactlyonce.testing.EmbeddedDatabase;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

class ClaimSchemaInitializerIT {

    private final EmbeddedDatabase server = EmbeddedDatabase.shared();
    private final String url = server.createDatabase();
    private final DataSource dataSource = server.dataSource(url);
    private final ClaimSchemaProbe probe = new ClaimSchemaProbe(dataSource);

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
                .isInstanceOfSatisfying(ClaimTableMissingException.class, missing -> {
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
        new JdbcTemplate(dataSource).execute("ALTER TABLE exactly_once_claim DROP CONSTRAINT exactly_once_claim_pkey");

        assertThatThrownBy(probe::verify).isInstanceOf(DataAccessException.class);
    }

    @Test
    void readOnlyUserIsRefused() {
        initialize(DatabaseInitializationMode.ALWAYS);
        String role = "reader_" + url.substring(url.lastIndexOf('_') + 1);
        new JdbcTemplate(dataSource).execute("CREATE ROLE " + role + " LOGIN");
        new JdbcTemplate(dataSource).execute("GRANT SELECT ON exactly_once_claim TO " + role);

        var reader = new DriverManagerDataSource(url, role, "");

        assertThatThrownBy(() -> new ClaimSchemaProbe(reader).verify())
                .isInstanceOf(DataAccessException.class)
                .rootCause()
                .hasMessageContaining("permission denied");
    }

    private boolean initialize(DatabaseInitializationMode mode) {
        return new ClaimSchemaInitializer(dataSource, mode).initializeDatabase();
    }

    private Long tableId() {
        return new JdbcTemplate(dataSource)
                .queryForObject("SELECT to_regclass('exactly_once_claim')::oid::bigint", Long.class);
    }
}
