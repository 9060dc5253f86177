package io.exactlyonce.primary;

import static io.exactlyonce.primary.ImpatientPool.refusalOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.testing.ConnectionProxy;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.NeedsProgram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims behind a real PgBouncer: settings that work, and settings that fail startup. */
@NeedsProgram(value = "pgbouncer", debianPackage = "pgbouncer")
class PgBouncerIT {

    private static final EmbeddedDatabase SERVER = EmbeddedDatabase.shared();
    private static final int POOL_SIZE = 4;

    private final String url = SERVER.createDatabase();

    @ParameterizedTest
    @ValueSource(strings = {"session", "transaction"})
    void primaryBehindItIsAccepted(String poolMode) throws Exception {
        String parameters = poolMode.equals("transaction") ? "?prepareThreshold=0" : "";
        try (var bouncer = ConnectionProxy.pgBouncer(poolMode, POOL_SIZE);
                var claims = pool(bouncer.lead(url) + parameters)) {
            assertThat(new PrimaryCheck(claims).verify().address()).isEqualTo("127.0.0.1:" + SERVER.port());
        }
    }

    @Test
    void poolOfTransactionsThatMixesUpPreparedStatementsIsRefused() throws Exception {
        try (var bouncer = ConnectionProxy.pgBouncer("transaction", POOL_SIZE);
                var claims = pool(bouncer.lead(url))) {
            ClaimDatabaseException refused = refusalOf(claims);
            assertThat(refused.problem()).contains("mixes up prepared statements");
            // A prepared statement may be unknown or have another meaning in the next session.
            assertThat(refused.problem()).containsPattern("mixes up prepared statements \\(SQLSTATE (42P05|26000)");
            assertThat(refused.remedy())
                    .contains("add prepareThreshold=0 to spring.datasource.url", "max_prepared_statements");
        }
    }

    /** An application's own pool fails startup in the same way. */
    @Test
    void markedPoolThatMixesThemUpIsRefused() throws Exception {
        try (var bouncer = ConnectionProxy.pgBouncer("transaction", POOL_SIZE)) {
            var marked = ClaimPool.around(SERVER.dataSource(bouncer.lead(url)), 2);

            assertThatThrownBy(() -> new PrimaryCheck(marked).verify())
                    .hasMessageContaining("prepareThreshold=0 to the URL of the DataSource marked");
        }
    }

    @Test
    void poolOfStatementsIsRefused() throws Exception {
        try (var bouncer = ConnectionProxy.pgBouncer("statement", POOL_SIZE);
                var claims = pool(bouncer.lead(url) + "?prepareThreshold=0")) {
            assertThatThrownBy(() -> new PrimaryCheck(claims).verify())
                    .isInstanceOf(ClaimDatabaseException.class)
                    .hasMessageContaining("statement");
        }
    }

    private static ClaimPool pool(String url) {
        return ImpatientPool.of(
                new ClaimPool.Target("spring.datasource.url", url, SERVER.username(), SERVER.password()));
    }
}
