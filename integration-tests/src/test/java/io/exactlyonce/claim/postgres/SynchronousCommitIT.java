package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.testing.EmbeddedDatabase;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PreferQueryMode;
import org.springframework.jdbc.core.JdbcTemplate;

/** Claims in a database whose default loses commits at a crash. */
class SynchronousCommitIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final String URL = SERVER.createDatabase();
    private static final JdbcTemplate DATABASE = new JdbcTemplate(SERVER.dataSource(URL));

    @BeforeAll
    static void commitsAreNotDurableByDefault() {
        DurabilityLog.losesCommitsByDefault(DATABASE);
        try (var pool = pool()) {
            new ClaimSchema(TestDatabase.table(pool.dataSource())).create();
        }
        DurabilityLog.install(DATABASE);
        assertThat(settingOf(SERVER.dataSource(URL))).isEqualTo("off");
    }

    @ParameterizedTest
    @EnumSource
    void commitsOfClaimsWaitForWhatIsConfigured(SynchronousCommit configured) {
        try (var pool = pool()) {
            assertThat(DurabilityLog.ofEveryWrite(DATABASE, pool.dataSource(), configured))
                    .containsExactly(configured.setting());
        }
    }

    /** Startup refuses the mode {@code simple}, and accepts all others. */
    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "SIMPLE")
    void commitsOfClaimsWaitHoweverTheDriverPreparesStatements(PreferQueryMode mode) {
        var source = new PGSimpleDataSource();
        source.setUrl(URL);
        source.setUser(SERVER.username());
        source.setPassword(SERVER.password());
        source.setPreferQueryMode(mode);
        try (var pool = ClaimPool.around(source, 2)) {
            assertThat(DurabilityLog.ofEveryWrite(DATABASE, pool.dataSource(), SynchronousCommit.ON))
                    .containsExactly("on");
        }
    }

    /** A pooler may give the session to the application next, whose own setting then applies to its commits. */
    @ParameterizedTest
    @EnumSource
    void sessionsAreLeftAsTheyAre(SynchronousCommit configured) {
        try (var pool = pool()) {
            DurabilityLog.ofEveryWrite(DATABASE, pool.dataSource(), configured);

            assertThat(settingOf(pool.dataSource())).isEqualTo("off");
        }
    }

    @ParameterizedTest
    @EnumSource
    void poolOfTheApplicationsIsLeftAsItIs(SynchronousCommit configured) {
        try (var foreign = new HikariDataSource()) {
            foreign.setJdbcUrl(URL);
            foreign.setUsername(SERVER.username());
            foreign.setPassword(SERVER.password());
            foreign.setMaximumPoolSize(2);
            try (var pool = ClaimPool.around(foreign, 2)) {
                assertThat(DurabilityLog.ofEveryWrite(DATABASE, pool.dataSource(), configured))
                        .containsExactly(configured.setting());
            }

            assertThat(settingOf(foreign)).isEqualTo("off");
        }
    }

    private static ClaimPool pool() {
        var target = new ClaimPool.Target("spring.datasource.url", URL, SERVER.username(), SERVER.password());
        return new ClaimPool(target, 2, Duration.ofSeconds(3));
    }

    private static String settingOf(DataSource dataSource) {
        return new JdbcTemplate(dataSource).queryForObject("SHOW synchronous_commit", String.class);
    }
}
