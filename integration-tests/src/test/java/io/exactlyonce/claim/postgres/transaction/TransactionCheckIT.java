package io.exactlyonce.claim.postgres.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.transaction.ApplicationTransactions.Seen;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.ClaimTransactionException;
import io.exactlyonce.claim.transaction.UnsupportedTransactionException;
import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.OtherDatabase;
import io.exactlyonce.testing.StreamingReplica;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.TenantId;
import org.hibernate.context.spi.CurrentTenantIdentifierResolver;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/** Transaction managers that may hold claims, and managers that startup refuses. */
class TransactionCheckIT {

    private static final TestDatabase DATABASE = new TestDatabase(4);

    /** A manager that begins no database transaction, like the manager of another resource. */
    private static final class OfAnotherResource extends AbstractPlatformTransactionManager {
        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {}

        @Override
        protected void doRollback(DefaultTransactionStatus status) {}
    }

    @Entity(name = "Booking")
    static class Booking {
        @Id
        private String id;

        @TenantId
        private String tenant;
    }

    static final class OneTenant implements CurrentTenantIdentifierResolver<String> {
        @Override
        public String resolveCurrentTenantIdentifier() {
            return "default";
        }

        @Override
        public boolean validateExistingCurrentSessions() {
            return false;
        }
    }

    private final StaticListableBeanFactory beans = new StaticListableBeanFactory();
    private final TransactionCheck transactions = new TransactionCheck(DATABASE.table(), beans, false);

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    private ClaimTransaction of(DataSource dataSource) {
        beans.addBean("dataSource", dataSource);
        return transactions.create(new JdbcTransactionManager(dataSource), new DefaultTransactionAttribute(), false);
    }

    private void assertRefused(DataSource dataSource, String problem, String... remedy) {
        assertRefused(new JdbcTransactionManager(dataSource), problem, remedy);
    }

    private void assertRefused(PlatformTransactionManager manager, String problem, String... remedy) {
        assertThatThrownBy(() -> transactions.create(manager, new DefaultTransactionAttribute(), false))
                .isInstanceOfSatisfying(UnsupportedTransactionException.class, refused -> {
                    assertThat(refused.problem()).contains(problem);
                    assertThat(refused.remedy()).contains(remedy);
                });
    }

    private static PGSimpleDataSource dataSource() {
        return (PGSimpleDataSource) EmbeddedDatabase.shared()
                .dataSource(DATABASE.jdbc()
                        .queryForObject(
                                "SELECT 'jdbc:postgresql://127.0.0.1:"
                                        + EmbeddedDatabase.shared().port() + "/' || current_database()",
                                String.class));
    }

    static Stream<Named<UnaryOperator<DataSource>>> accepted() {
        return Stream.of(
                Named.of("as it is", UnaryOperator.identity()),
                Named.of("aware of transactions", TransactionAwareDataSourceProxy::new),
                Named.of("that connects lazily", LazyConnectionDataSourceProxy::new));
    }

    @ParameterizedTest
    @MethodSource("accepted")
    void managerOfTheClaimsDatabaseIsTakenAndWorks(UnaryOperator<DataSource> wrapping) throws Throwable {
        assertThat(of(wrapping.apply(dataSource())).execute(TestDatabase.request(), claim -> null))
                .isInstanceOf(Acquired.class);
    }

    /** Running handlers occupy the connections of the pool. */
    @ParameterizedTest
    @MethodSource("accepted")
    void poolOfItsConnectionsIsKnown(UnaryOperator<DataSource> wrapping) {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setDataSource(dataSource());
            pool.setPoolName("shop");
            pool.setMaximumPoolSize(7);

            assertThat(of(wrapping.apply(pool)).pool()).isEqualTo(new ClaimTransaction.Pool("shop", 7));
            assertThat(transactions
                            .create(new JdbcTransactionManager(dataSource()), new DefaultTransactionAttribute(), true)
                            .pool())
                    .as("without a pool")
                    .isNull();
        }
    }

    @Test
    void anotherDatabaseOfTheSameServerIsRefusedAlsoIfItHasATable() {
        try (TestDatabase other = new TestDatabase(2)) {
            assertRefused(
                    other.application(),
                    "but claims are kept in table exactly_once_claim of database",
                    "transactionManager = \"...\"",
                    "exactly-once.datasource.url",
                    "@ExactlyOnceDataSource",
                    "effects = EXTERNAL");
        }
    }

    @Test
    void databaseOfAnotherKindIsRefusedWithWhatItAnswered() {
        assertRefused(new OtherDatabase(), OtherDatabase.ANSWER, "keep claims where the handler writes, in PostgreSQL");
    }

    @Test
    void replicaIsRefusedAlthoughItGrantsLocks() throws Exception {
        EmbeddedDatabase primary = EmbeddedDatabase.shared();
        try (StreamingReplica replica = new StreamingReplica(dataSource(), primary.port())) {
            PGSimpleDataSource onReplica = dataSource();
            onReplica.setPortNumbers(new int[] {replica.port()});
            assertThat(new JdbcTemplate(onReplica).queryForObject("SELECT pg_try_advisory_xact_lock(1)", Boolean.class))
                    .isTrue();

            assertRefused(onReplica, "127.0.0.1:" + replica.port(), "connects to the primary");
        }
    }

    static Stream<Arguments> unusable() {
        return Stream.of(
                unusable("is down", source -> source.setPortNumbers(new int[] {1}), "refused", "effects = EXTERNAL"),
                unusable(
                        "is read-only",
                        source -> source.setOptions("-c default_transaction_read_only=on"),
                        "read-only transaction",
                        "connects to the primary"));
    }

    private static Arguments unusable(String name, Consumer<PGSimpleDataSource> change, String problem, String remedy) {
        return Arguments.of(Named.of(name, change), problem, remedy);
    }

    @ParameterizedTest
    @MethodSource("unusable")
    void dataSourceThatIsOfNoUseIsRefused(Consumer<PGSimpleDataSource> change, String problem, String remedy) {
        PGSimpleDataSource changed = dataSource();
        change.accept(changed);
        assertRefused(changed, problem, remedy);
    }

    /** Statements name the table's schema. */
    @ParameterizedTest
    @ValueSource(strings = {"pg_catalog", "other"})
    void searchPathWithoutTheTableOrWithAnotherOneIsAccepted(String schema) throws Throwable {
        DATABASE.jdbc().execute("CREATE SCHEMA IF NOT EXISTS other");
        DATABASE.jdbc()
                .execute(
                        "CREATE TABLE IF NOT EXISTS other.exactly_once_claim (LIKE public.exactly_once_claim INCLUDING ALL)");
        PGSimpleDataSource elsewhere = dataSource();
        elsewhere.setCurrentSchema(schema);
        ClaimRequest request = TestDatabase.request();

        assertThat(of(elsewhere).execute(request, claim -> null)).isInstanceOf(Acquired.class);

        assertThat(DATABASE.row(request.key())).containsEntry("status", "COMPLETED");
    }

    @Test
    void userWhoMayNotWriteTheTableIsRefusedAndOneWhoMayNeedsNoOtherRight() throws Throwable {
        String user = "user_" + UUID.randomUUID().toString().replace("-", "");
        DATABASE.jdbc()
                .execute("CREATE USER %s PASSWORD '%s'"
                        .formatted(user, EmbeddedDatabase.shared().password()));
        DATABASE.jdbc().execute("GRANT SELECT, INSERT ON exactly_once_claim TO " + user);
        PGSimpleDataSource ordinary = dataSource();
        ordinary.setUser(user);
        ordinary.setPassword(EmbeddedDatabase.shared().password());

        assertRefused(ordinary, "permission denied", "GRANT SELECT, INSERT, UPDATE ON exactly_once_claim");

        DATABASE.jdbc().execute("GRANT UPDATE ON exactly_once_claim TO " + user);
        assertThat(of(ordinary).execute(TestDatabase.request(), claim -> null)).isInstanceOf(Acquired.class);
    }

    /** Row-level security would make completed keys look free. */
    @Test
    void userFromWhomRowLevelSecurityHidesClaimsIsRefused() {
        String user = "user_" + UUID.randomUUID().toString().replace("-", "");
        DATABASE.jdbc()
                .execute("CREATE USER %s PASSWORD '%s'"
                        .formatted(user, EmbeddedDatabase.shared().password()));
        DATABASE.jdbc().execute("GRANT SELECT, INSERT, UPDATE ON exactly_once_claim TO " + user);
        DATABASE.jdbc().execute("ALTER TABLE exactly_once_claim ENABLE ROW LEVEL SECURITY");
        PGSimpleDataSource shielded = dataSource();
        shielded.setUser(user);
        shielded.setPassword(EmbeddedDatabase.shared().password());
        try {
            assertThatThrownBy(() -> of(shielded))
                    .isInstanceOf(ClaimDatabaseException.class)
                    .hasMessageContaining("behind row-level security in database")
                    .hasMessageContaining("BYPASSRLS");
        } finally {
            DATABASE.jdbc().execute("ALTER TABLE exactly_once_claim DISABLE ROW LEVEL SECURITY");
        }
    }

    /** Tenants that share one table and one connection. The resolver of tenants is called when a session begins. */
    @Test
    void managerWhoseEntitiesHaveATenantIsRefused() {
        try (SessionFactory sessions = new org.hibernate.cfg.Configuration()
                .addAnnotatedClass(Booking.class)
                .setCurrentTenantIdentifierResolver(new OneTenant())
                .setProperty("jakarta.persistence.jdbc.url", DATABASE.url())
                .setProperty("jakarta.persistence.jdbc.user", "postgres")
                .setProperty(
                        "jakarta.persistence.jdbc.password",
                        EmbeddedDatabase.shared().password())
                .buildSessionFactory()) {
            assertRefused(
                    new JpaTransactionManager(sessions),
                    OneTenant.class.getName() + " chooses one when a transaction begins, before the handler",
                    "exactly-once.claim.tenant-before-handler=true");
        }
    }

    private static AbstractRoutingDataSource routing(Map<Object, Object> targets) {
        AbstractRoutingDataSource router = new AbstractRoutingDataSource() {
            @Override
            protected Object determineCurrentLookupKey() {
                return "own";
            }
        };
        router.setTargetDataSources(targets);
        router.afterPropertiesSet();
        return router;
    }

    /** Each database may belong to a tenant, even behind a proxy that connects late. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void dataSourceThatRoutesToSeveralDatabasesIsRefused(boolean isLazy) {
        try (TestDatabase other = new TestDatabase(2)) {
            DataSource router = routing(Map.of("own", dataSource(), "other", other.application()));

            assertRefused(
                    isLazy ? new LazyConnectionDataSourceProxy(router) : router,
                    "chooses one when a transaction begins",
                    "exactly-once.claim.tenant-before-handler=true");
        }
    }

    /** Transactions of claims write, so all of them go to the primary. */
    @Test
    void dataSourceThatRoutesReadsToAReplicaIsTaken() throws Throwable {
        PGSimpleDataSource replica = dataSource();
        replica.setOptions("-c default_transaction_read_only=on");
        PGSimpleDataSource away = dataSource();
        away.setPortNumbers(new int[] {1});

        assertThat(of(routing(Map.of("own", dataSource(), "replica", replica, "away", away)))
                        .execute(TestDatabase.request(), claim -> null))
                .isInstanceOf(Acquired.class);
    }

    @Test
    void dataSourceWithTenantsIsTakenIfTheyAreSetBeforeTheHandler() throws Throwable {
        try (TestDatabase other = new TestDatabase(2)) {
            var permitting = new TransactionCheck(DATABASE.table(), beans, true);
            var manager =
                    new JdbcTransactionManager(routing(Map.of("own", dataSource(), "other", other.application())));

            assertThat(permitting
                            .create(manager, new DefaultTransactionAttribute(), true)
                            .execute(TestDatabase.request(), claim -> null))
                    .isInstanceOf(Acquired.class);
        }
    }

    @Test
    void managerOfAnotherResourceIsRefused() {
        assertRefused(new OfAnotherResource(), "OfAnotherResource bind 0 JDBC connections", "JpaTransactionManager");
    }

    @Test
    void managerWhoseTransactionsTheApplicationsDataSourceDoesNotJoinIsRefused() {
        DataSource target = dataSource();
        beans.addBean("dataSource", new DelegatingDataSource(target));
        assertRefused(new JdbcTransactionManager(target), "does not join the transactions", "same DataSource bean");
    }

    @Test
    void applicationsDataSourceIsTheOnlyOneUnlessTheManagerIsNamed() throws Throwable {
        DataSource target = dataSource();
        beans.addBean("dataSource", new DelegatingDataSource(target));
        var manager = new JdbcTransactionManager(target);

        assertThatThrownBy(() -> transactions.create(manager, new DefaultTransactionAttribute(), false))
                .hasMessageContaining("does not join");
        assertThat(transactions
                        .create(manager, new DefaultTransactionAttribute(), true)
                        .execute(TestDatabase.request(), claim -> null))
                .isInstanceOf(Acquired.class);
    }

    @Test
    void managerThatStopsBeginningTransactionsIsNoticedBeforeTheWork() {
        assertThatThrownBy(() -> new PostgresClaimTransaction(
                                new ApplicationTransactions(
                                        new OfAnotherResource(),
                                        new DefaultTransactionAttribute(),
                                        DATABASE.application(),
                                        Seen.in(DATABASE.jdbc(), DATABASE.table())),
                                DATABASE.table())
                        .execute(TestDatabase.request(), claim -> {
                            throw new AssertionError("called without a transaction");
                        }))
                .isInstanceOf(ClaimTransactionException.class)
                .hasMessageContaining("is not one of the DataSource that transaction manager");
    }
}
