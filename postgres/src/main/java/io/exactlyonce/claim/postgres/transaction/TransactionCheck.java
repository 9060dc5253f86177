package io.exactlyonce.claim.postgres.transaction;

import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.claim.postgres.SameDatabase;
import io.exactlyonce.claim.postgres.transaction.ApplicationTransactions.Seen;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.UnsupportedTransactionException;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Creates claim transactions for the application's transaction managers. First runs a transaction of the transaction
 * manager, and checks that it uses the claim database and sees the claim table. This transaction is rolled back.
 *
 * @param table the claim table
 * @param beans the bean factory that has the application's DataSource
 * @param tenantBeforeHandler whether the application sets a tenant before a claim's transaction begins
 */
public record TransactionCheck(ClaimTable table, BeanFactory beans, boolean tenantBeforeHandler)
        implements ClaimTransaction.Factory {

    private static final String SESSION = "SELECT pg_catalog.pg_backend_pid()";

    private static final String REMEDY =
            "use a transaction manager of the database that claims are kept in, transactionManager = \"...\""
                    + " if there are several, whose DataSource connects to the primary, and whose user has GRANT SELECT, INSERT, UPDATE ON %s"
                    + "; or keep claims where the handler writes, in PostgreSQL, by exactly-once.datasource.url or"
                    + " @ExactlyOnceDataSource; or effects = EXTERNAL";

    private static final String SET_BEFORE =
            "set the tenant in a MessageInterceptor, or in advice with an order before Ordered.HIGHEST_PRECEDENCE + 100, and then"
                    + " set exactly-once.claim.tenant-before-handler=true; or use effects = EXTERNAL, with transactions of the"
                    + " handler's own";

    private static final String ALSO_AT_STARTUP =
            "let the application choose a tenant outside of messages too, for this check at startup; or use effects = EXTERNAL";

    @Override
    public ClaimTransaction create(PlatformTransactionManager transactions, TransactionAttribute own, boolean named) {
        DataSource application =
                named ? null : beans.getBeanProvider(DataSource.class).getIfUnique();
        TransactionTemplate template = new TransactionTemplate(transactions, own);
        template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        template.setTimeout(TransactionDefinition.TIMEOUT_DEFAULT);
        String manager = transactions.getClass().getSimpleName();
        String chooser = Tenants.ofEntityManagers(transactions);
        requireTenantBefore(manager, chooser);
        try {
            return template.execute(status -> {
                status.setRollbackOnly();
                DataSource dataSource = proved(manager, application);
                if (!tenantBeforeHandler) {
                    requireTenantBefore(manager, Tenants.ofConnections(dataSource, new JdbcTemplate(dataSource)));
                }
                Seen seen = Seen.in(new JdbcTemplate(dataSource), table);
                requireJoining(transactions, own, manager);
                return new PostgresClaimTransaction(
                        new ApplicationTransactions(transactions, own, dataSource, seen), table);
            });
        } catch (DataAccessException | TransactionException failure) {
            String problem = "transactions of %s cannot hold claims: %s"
                    .formatted(manager, failure.getMostSpecificCause().getMessage());
            throw new UnsupportedTransactionException(problem, chooser == null ? remedy() : ALSO_AT_STARTUP, failure);
        }
    }

    private void requireTenantBefore(String manager, @Nullable String chooser) {
        if (chooser != null && !tenantBeforeHandler) {
            throw refused(
                    ("transactions of %s belong to tenants, and %s chooses one when a transaction begins, before the handler: a"
                                    + " tenant that the handler sets comes too late, and its writes go to another tenant")
                            .formatted(manager, chooser),
                    SET_BEFORE);
        }
    }

    /** Requires that the handler's own {@code @Transactional} can join a transaction of the manager. */
    private static void requireJoining(
            PlatformTransactionManager transactions, TransactionAttribute own, String manager) {
        try {
            transactions.commit(transactions.getTransaction(own));
        } catch (TransactionException refusal) {
            throw new UnsupportedTransactionException(
                    "the handler's @Transactional cannot join transactions of %s: %s"
                            .formatted(manager, refusal.getMessage()),
                    "use propagation REQUIRED, or leave @Transactional off the method",
                    refusal);
        }
    }

    /**
     * Requires that the open transaction uses the claim database, and that the application's DataSource takes part in
     * it.
     *
     * @return the DataSource whose connection the transaction uses
     */
    private DataSource proved(String manager, @Nullable DataSource application) {
        List<DataSource> bound = SameDatabase.dataSourcesOfTransaction();
        if (bound.size() != 1) {
            throw refused(
                    "transactions of %s bind %d JDBC connections, not one".formatted(manager, bound.size()),
                    "use a JdbcTransactionManager or JpaTransactionManager, or effects = EXTERNAL");
        }
        DataSource dataSource = bound.get(0);
        JdbcTemplate transaction = new JdbcTemplate(dataSource);
        SameDatabase database = new SameDatabase(table);
        if (!database.isSame(transaction)) {
            throw refused(
                    "transactions of %s are of %s, but claims are kept in table %s of %s"
                            .formatted(
                                    manager,
                                    SameDatabase.describe(transaction),
                                    table.name(),
                                    database.describeClaims()),
                    remedy());
        }
        new ClaimSchema(table, dataSource).requireUsable();
        // A proxy and its target are two {@code DataSource} objects, so they do not show whether two transactions are
        // the same. The database sessions show it: one transaction has one session.
        if (application != null
                && !Objects.equals(
                        transaction.queryForObject(SESSION, Integer.class),
                        new JdbcTemplate(application).queryForObject(SESSION, Integer.class))) {
            throw refused(
                    "the application's DataSource does not join the transactions of %s, so a handler's writes through"
                                    .formatted(manager)
                            + " it would be committed separately",
                    "build transaction manager, JdbcTemplate and EntityManagerFactory on the same DataSource bean, or name"
                            + " the transaction manager of the one that the handler uses: transactionManager = \"...\"");
        }
        return dataSource;
    }

    private String remedy() {
        return REMEDY.formatted(table.name());
    }

    private static UnsupportedTransactionException refused(String problem, String remedy) {
        return new UnsupportedTransactionException(problem, remedy, null);
    }
}
