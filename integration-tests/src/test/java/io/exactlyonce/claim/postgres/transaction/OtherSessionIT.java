package io.exactlyonce.claim.postgres.transaction;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.ClaimTransaction.Work;
import io.exactlyonce.claim.transaction.ClaimTransactionException;
import io.exactlyonce.testing.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;

/**
 * Startup checks one transaction. A later transaction may belong to another tenant, with another role or database. Its
 * message then fails with the reason, and the failure does not count as an outage.
 */
@Tag("postgres")
class OtherSessionIT {

    private static final TestDatabase DATABASE = new TestDatabase(4);
    private static final String SUFFIX = UUID.randomUUID().toString().replace("-", "");
    private static final String STRANGER = "stranger_" + SUFFIX;
    private static final String SHIELDED = "shielded_" + SUFFIX;

    private static final Work NOT_TO_BE_CALLED = claim -> {
        throw new AssertionError("the work was called");
    };

    static {
        DATABASE.jdbc().execute("CREATE TABLE charge (id text)");
        DATABASE.jdbc().execute("CREATE SCHEMA tenant");
        DATABASE.jdbc().execute("CREATE SCHEMA shadow");
        DATABASE.jdbc()
                .execute("CREATE TABLE shadow.exactly_once_claim (LIKE public.exactly_once_claim INCLUDING ALL)");
        DATABASE.jdbc().execute("CREATE SCHEMA older");
        DATABASE.jdbc().execute("CREATE TABLE older.exactly_once_claim (scope text, key text)");
        DATABASE.jdbc().execute("CREATE ROLE " + STRANGER);
    }

    /** Begins each transaction with a statement of the application, after a test has enabled this. */
    private static final class Tenants extends DelegatingDataSource {
        private String statement = "";

        Tenants(DataSource target) {
            super(target);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            if (!statement.isEmpty()) {
                connection.createStatement().execute(statement);
            }
            return connection;
        }
    }

    private final Tenants tenants = new Tenants(DATABASE.application());
    private final JdbcTransactionManager manager = new JdbcTransactionManager(tenants);
    private final ClaimTransaction transaction = of(manager);
    private final ClaimRequest request = request();

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    private static ClaimTransaction of(JdbcTransactionManager manager) {
        return new TransactionCheck(DATABASE.table(), new StaticListableBeanFactory(), false)
                .create(manager, new DefaultTransactionAttribute(), true);
    }

    private void assertFails(String... reason) {
        assertThatThrownBy(() -> transaction.execute(request, NOT_TO_BE_CALLED))
                .isInstanceOf(ClaimTransactionException.class)
                .message()
                .startsWith("The transaction of [orders/")
                .contains(reason)
                .doesNotContain(request.key().key());
    }

    private void assertGoesOn() throws Throwable {
        assertThat(transaction.execute(request(), claim -> null)).isInstanceOf(Acquired.class);
    }

    /** The search path may first find another table of this name, such as an older version. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "SET search_path TO tenant",
                "SELECT set_config('search_path', 'tenant', false)",
                "SET search_path TO older, public",
                "SET search_path TO shadow, public"
            })
    void searchPathDoesNotMatter(String statement) throws Throwable {
        tenants.statement = statement;

        assertThat(transaction.execute(request, claim -> null)).isInstanceOf(Acquired.class);

        assertCompletedInTheClaimsTable();
    }

    private void assertCompletedInTheClaimsTable() {
        assertThat(DATABASE.row(request.key())).containsEntry("status", "COMPLETED");
        assertThat(DATABASE.jdbc().queryForList("SELECT * FROM shadow.exactly_once_claim"))
                .isEmpty();
    }

    /** Rows are read outside of the transaction. */
    @Test
    void searchPathDoesNotMatterWhereRowsAreReadBeside() throws Throwable {
        var serializable = new DefaultTransactionAttribute();
        serializable.setIsolationLevelName("ISOLATION_SERIALIZABLE");
        ClaimTransaction beside = new TransactionCheck(DATABASE.table(), new StaticListableBeanFactory(), false)
                .create(manager, serializable, true);
        tenants.statement = "SET search_path TO shadow";

        assertThat(beside.execute(request, claim -> null)).isInstanceOf(Acquired.class);

        assertCompletedInTheClaimsTable();
    }

    @Test
    void roleWithoutPrivilegesIsNamed() throws Throwable {
        tenants.statement = "SET ROLE " + STRANGER;

        assertFails(
                "has a role without privileges on table exactly_once_claim (SQLSTATE 42501)",
                "GRANT SELECT, INSERT, UPDATE ON public.exactly_once_claim");

        tenants.statement = "";
        assertGoesOn();
    }

    /** Row-level security would make completed keys look free. */
    @Test
    void rowLevelSecurityIsNamed() throws Throwable {
        DATABASE.jdbc().execute("CREATE ROLE " + SHIELDED);
        DATABASE.jdbc().execute("GRANT SELECT, INSERT, UPDATE ON exactly_once_claim TO " + SHIELDED);
        DATABASE.jdbc().execute("ALTER TABLE exactly_once_claim ENABLE ROW LEVEL SECURITY");
        try {
            tenants.statement = "SET ROLE " + SHIELDED;
            assertFails("through row-level security", "DISABLE ROW LEVEL SECURITY");

            tenants.statement = "";
            assertGoesOn();
        } finally {
            DATABASE.jdbc().execute("ALTER TABLE exactly_once_claim DISABLE ROW LEVEL SECURITY");
        }
    }

    @Test
    void anotherDatabaseIsNamedAlsoIfItHasATable() throws Throwable {
        try (TestDatabase other = new TestDatabase(2)) {
            DataSource own = DATABASE.application();
            tenants.setTargetDataSource(other.application());

            assertFails("is of database", "but claims are kept in database", "effects = EXTERNAL");

            tenants.setTargetDataSource(own);
            assertGoesOn();
        }
    }

    static Stream<Arguments> sessionThatCannotBeginIsNamed() {
        return Stream.of(
                Arguments.of("SET ROLE no_such_role", "(SQLSTATE 22023)"),
                Arguments.of("SELECT set_config('app.tenant', current_setting('app.none'), false)", "(SQLSTATE 42704)"),
                Arguments.of("DO $$ BEGIN RAISE EXCEPTION 'no tenant'; END $$", "(SQLSTATE P0001)"));
    }

    /** One message with a tenant that does not exist must not stop the listener for all others. */
    @ParameterizedTest
    @MethodSource
    void sessionThatCannotBeginIsNamed(String statement, String reason) throws Throwable {
        tenants.statement = statement;
        assertFails(reason);

        tenants.statement = "";
        assertGoesOn();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void resolverOfTenantsThatThrowsIsNamed(boolean isLazy) {
        DataSource strict = new DelegatingDataSource(DATABASE.application()) {
            @Override
            public Connection getConnection() throws SQLException {
                if (!tenants.statement.isEmpty()) {
                    throw new IllegalArgumentException("tenant %s is unknown".formatted(tenants.statement));
                }
                return super.getConnection();
            }
        };
        ClaimTransaction resolving =
                of(new JdbcTransactionManager(isLazy ? new LazyConnectionDataSourceProxy(strict) : strict));
        tenants.statement = "evil";

        assertThatThrownBy(() -> resolving.execute(request, NOT_TO_BE_CALLED))
                .isInstanceOf(isLazy ? IllegalArgumentException.class : ClaimTransactionException.class)
                .satisfies(failure -> {
                    if (!isLazy) {
                        assertThat(failure)
                                .hasMessageContaining("did not begin: java.lang.IllegalArgumentException")
                                .hasMessageNotContaining("evil");
                    }
                });
    }

    @Test
    void statementWhoseFailureAListenerOfTheManagerSwallowsIsNamed() throws Throwable {
        List<String> statements = new ArrayList<>();
        manager.addListener(new TransactionExecutionListener() {
            @Override
            public void afterBegin(TransactionExecution execution, @Nullable Throwable beginFailure) {
                for (String statement : statements) {
                    assertThatThrownBy(() -> new JdbcTemplate(tenants).execute(statement))
                            .isInstanceOf(DataAccessException.class);
                }
            }
        });
        statements.add("SET LOCAL ROLE no_such_role");

        assertFails(
                "was aborted before its claim: a statement (DataIntegrityViolationException, SQLSTATE 22023) failed");

        statements.clear();
        assertGoesOn();
    }

    /** The table is missing for all tenants. Claims wait for the table, and use up no receive. */
    @Test
    void tableThatIsMissingForTheClaimsPoolTooIsAnOutage() throws Throwable {
        try (TestDatabase own = new TestDatabase(2)) {
            ClaimTransaction onIt = new TransactionCheck(own.table(), new StaticListableBeanFactory(), false)
                    .create(new JdbcTransactionManager(own.application()), new DefaultTransactionAttribute(), true);
            own.jdbc().execute("ALTER TABLE exactly_once_claim RENAME TO away");
            assertThatThrownBy(() -> onIt.execute(request, NOT_TO_BE_CALLED))
                    .isInstanceOf(ClaimStoreUnavailableException.class);

            own.jdbc().execute("CREATE TABLE exactly_once_claim (LIKE away INCLUDING ALL)");
            assertThat(onIt.execute(request(), claim -> null))
                    .as("in the table that is new")
                    .isInstanceOf(Acquired.class);
        }
    }

    static Stream<String> failureOfTheServerIsAnOutage() {
        return Stream.of(
                "08006", "25P03", "25P04", "28000", "53300", "55P03", "57014", "57P03", "58030", "XX000", "25006",
                "0A000", "26000");
    }

    @ParameterizedTest
    @MethodSource
    void failureOfTheServerIsAnOutage(String state) {
        tenants.statement = "DO $$ BEGIN RAISE EXCEPTION 'server' USING ERRCODE = '%s'; END $$".formatted(state);

        assertThatThrownBy(() -> transaction.execute(request, NOT_TO_BE_CALLED))
                .isInstanceOf(ClaimStoreUnavailableException.class);
    }

    @Test
    void searchPathThatTheHandlerChangesDoesNotMatter() throws Throwable {
        transaction.execute(request, claim -> {
            new JdbcTemplate(tenants).execute("SET LOCAL search_path TO shadow");
            return null;
        });

        assertCompletedInTheClaimsTable();
    }

    /** A trigger of the application's own, in the commit. */
    @Test
    void failureOfTheApplicationsOwnStatementAtTheCommitIsItsOwn() {
        DATABASE.jdbc()
                .execute("CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
                        + " $$ BEGIN PERFORM 1 FROM no_such_table; RETURN NULL; END $$");
        DATABASE.jdbc()
                .execute("CREATE CONSTRAINT TRIGGER failing AFTER INSERT ON charge DEFERRABLE INITIALLY DEFERRED"
                        + " FOR EACH ROW EXECUTE FUNCTION fail()");

        assertThatThrownBy(() -> transaction.execute(request, claim -> {
                    new JdbcTemplate(tenants).update("INSERT INTO charge VALUES ('a')");
                    return null;
                }))
                .isNotInstanceOf(ClaimTransactionException.class)
                .hasStackTraceContaining("no_such_table");
    }

    @Test
    void urlThatLeadsToTheSameDatabaseByAnotherNameIsTaken() throws Throwable {
        PGSimpleDataSource again =
                (PGSimpleDataSource) EmbeddedDatabase.shared().dataSource(DATABASE.url());
        again.setApplicationName("another");
        again.setServerNames(new String[] {"localhost"});
        tenants.setTargetDataSource(again);

        assertGoesOn();
    }
}
