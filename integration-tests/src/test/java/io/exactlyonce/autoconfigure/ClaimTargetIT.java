package io.exactlyonce.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.testing.EmbeddedDatabase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

/** The schema of the application's database in which the claim table is found or created. */
class ClaimTargetIT {

    private static final String POOL = "spring.datasource.hikari.";

    private final EmbeddedDatabase server = EmbeddedDatabase.shared();
    private final String url = server.createDatabase();
    private final JdbcTemplate jdbc = new JdbcTemplate(server.dataSource(url));
    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    ExactlyOnceAutoConfiguration.class,
                    ExactlyOnceObservabilityAutoConfiguration.class))
            .withPropertyValues(
                    "spring.datasource.url=" + url,
                    "spring.datasource.username=" + server.username(),
                    "spring.datasource.password=" + server.password(),
                    "exactly-once.claim.initialize-schema=always");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "schema=Shop",
                "data-source-properties.currentSchema=\"Shop\"",
                "connection-init-sql=SET search_path TO \"Shop\""
            })
    void tableIsInTheSchemaThatTheApplicationsPoolHas(String setting) {
        jdbc.execute("CREATE SCHEMA \"Shop\"");

        application
                .withPropertyValues(POOL + setting)
                .run(context -> context.getBean(ClaimDatabase.class).requireReady());

        assertThat(schemaOfTheTable()).isEqualTo("Shop");
    }

    /** A URL for claims replaces all settings, such as the user and the server. */
    @Test
    void claimsWithAUrlOfTheirOwnTakeNothingOver() {
        application
                .withPropertyValues(
                        POOL + "connection-init-sql=SET search_path TO nowhere",
                        "exactly-once.datasource.url=" + url,
                        "exactly-once.datasource.username=" + server.username(),
                        "exactly-once.datasource.password=" + server.password())
                .run(context -> context.getBean(ClaimDatabase.class).requireReady());

        assertThat(schemaOfTheTable()).isEqualTo("public");
    }

    private String schemaOfTheTable() {
        return jdbc.queryForObject(
                "SELECT schemaname FROM pg_tables WHERE tablename = 'exactly_once_claim'", String.class);
    }
}
