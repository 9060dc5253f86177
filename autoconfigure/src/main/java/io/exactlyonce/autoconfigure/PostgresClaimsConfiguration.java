package io.exactlyonce.autoconfigure;

import com.zaxxer.hikari.HikariCredentialsProvider;
import io.exactlyonce.ExactlyOnceDataSource;
import io.exactlyonce.autoconfigure.ExactlyOnceProperties.Store;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.groupcommit.GroupCommitSettings;
import io.exactlyonce.claim.postgres.ClaimDatabase;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.PostgresParkedClaims;
import io.exactlyonce.claim.postgres.Retention;
import io.exactlyonce.claim.postgres.RetentionObserver;
import io.exactlyonce.claim.postgres.transaction.RollbackCause;
import io.exactlyonce.claim.postgres.transaction.TransactionCheck;
import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.ReplicaMonitor;
import io.exactlyonce.primary.ReplicaObserver;
import io.exactlyonce.property.InvalidPropertyException;
import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Stores claims in PostgreSQL, unless the application has its own claim store. An application with its own store needs
 * no database.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(PostgresClaimStore.class)
@ConditionalOnMissingBean(ClaimStore.class)
class PostgresClaimsConfiguration {

    static final String RETENTION = "exactlyOnceRetention";

    /**
     * At most 500 rows are deleted in one transaction, so that it takes only milliseconds. More transactions follow
     * until no expired row is left.
     */
    private static final int CLEANUP_BATCH = 500;

    private static final String TWO_MARKED =
            "a DataSource and a HikariCredentialsProvider are both marked @ExactlyOnceDataSource, but that DataSource has"
                    + " its own user and password";

    private static final String BUSY =
            "find out what slows it down, lower the concurrency of listeners, or raise %s if the database is distant";

    private final ExactlyOnceProperties.Claim properties;
    private final ExactlyOnceProperties.Datasource datasource;
    private final Map<String, Duration> leases;

    /**
     * Number of connections that delete expired claims: 1, or 0 if deletion is off. The library's own pool is made
     * larger by this number. If the application provides the pool ({@link ExactlyOnceDataSource}), the deletion uses
     * one of the pool's connections.
     */
    private final int forCleanup;

    PostgresClaimsConfiguration(ExactlyOnceProperties properties) {
        this.properties = properties.claim();
        this.datasource = properties.datasource();
        this.leases = properties.leases();
        this.forCleanup = properties.claim().cleanup().enabled() ? 1 : 0;
    }

    /**
     * Creates the pool for claims. The pool is no {@code DataSource} bean. So it cannot be injected by mistake, and the
     * health indicator {@code db} does not check it.
     */
    @Bean
    ClaimPool exactlyOnceClaimPool(
            @ExactlyOnceDataSource ObjectProvider<DataSource> marked,
            @ExactlyOnceDataSource ObjectProvider<HikariCredentialsProvider> credentials,
            ObjectProvider<DataSource> application,
            ObjectProvider<JdbcConnectionDetails> details,
            ConfigurableListableBeanFactory beans) {
        if (properties.store() == Store.DYNAMODB) {
            throw properties.store().isMissing();
        }
        DataSource bean = marked.getIfAvailable();
        HikariCredentialsProvider provider = credentials.getIfAvailable();
        if (bean != null) {
            if (provider != null) {
                throw new ClaimDatabaseException(TWO_MARKED, "set the credentialsProvider of that pool instead", null);
            }
            return requireShorterWait(ClaimPool.around(bean, datasource.maximumPoolSize()));
        }
        ClaimPool.Target own = datasource.target();
        Supplier<ClaimPool.Target> targets =
                own == null ? new ApplicationTarget(application, details, beans) : () -> own;
        int size = datasource.maximumPoolSize() + forCleanup;
        return requireShorterWait(new ClaimPool(
                provider == null ? targets : new ProvidedCredentials(provider, targets),
                size,
                datasource.connectionTimeout()));
    }

    /**
     * Requires that each configured lease is longer than the pool's connection timeout. Otherwise a lease could expire
     * while its renewal waits for a connection. If no lease is configured, the lease is the queue's visibility timeout.
     * That timeout is not known when the pool is created, so this method does not check it.
     */
    private ClaimPool requireShorterWait(ClaimPool pool) {
        Duration timeout = pool.chosenTimeout().orElse(Duration.ZERO);
        leases.forEach((property, lease) -> {
            if (timeout.compareTo(lease) >= 0) {
                throw new InvalidPropertyException(
                        property,
                        "%s (%ds) must be longer than %s (%ds), for which a renewal may wait"
                                .formatted(property, lease.toSeconds(), pool.timeoutSetting(), timeout.toSeconds()),
                        "set %s to about 3s, or raise the lease".formatted(pool.timeoutSetting()));
            }
        });
        return pool;
    }

    @Bean
    ClaimTable exactlyOnceClaimTable(ClaimPool pool) {
        return new ClaimTable(
                properties.tableName(), pool.dataSource(), properties.retention(), properties.synchronousCommit());
    }

    @Bean
    TransactionCheck exactlyOnceTransactionCheck(ClaimTable table, BeanFactory beans) {
        return new TransactionCheck(table, beans, properties.tenantBeforeHandler());
    }

    @Bean
    static RollbackCause exactlyOnceRollbackCause() {
        return new RollbackCause();
    }

    @Bean
    ClaimStore exactlyOnceClaimStore(ClaimTable table) {
        return new PostgresClaimStore(table);
    }

    /**
     * Limits how many batches of claims use the database at the same time, so that some connections of the pool stay
     * free. Renewals, lookups of keys and the deletion of expired claims need these connections. If the application
     * provides the pool, the requests of operators need connections of this pool, too.
     *
     * <p>A claim fails if its batch is not sent within 3 s. If the pool's connection timeout is longer, that timeout
     * applies instead.
     */
    @Bean
    GroupCommitSettings exactlyOnceGroupCommit(ClaimPool pool) {
        GroupCommitSettings usual = GroupCommitSettings.USUAL;
        int connections = Math.max(1, pool.maximumPoolSize() - forCleanup - pool.lentToOperators() - 2);
        Duration timeout = pool.chosenTimeout().orElse(Duration.ZERO);
        return new GroupCommitSettings(
                Math.min(connections, usual.flushers()),
                usual.maxBatch(),
                timeout.compareTo(usual.queueTimeout()) > 0 ? timeout : usual.queueTimeout(),
                BUSY.formatted(pool.timeoutSetting()));
    }

    @Bean
    @ConditionalOnMissingBean
    ParkedClaims exactlyOnceParkedClaims(ClaimPool pool, ClaimTable table) {
        return new PostgresParkedClaims(table, pool.operators());
    }

    @Bean
    ReplicaMonitor exactlyOnceReplicaMonitor(ClaimPool pool, ObjectProvider<ReplicaObserver> observers) {
        return new ReplicaMonitor(
                pool, properties.synchronousCommit(), observers.orderedStream().toList());
    }

    /**
     * Creates the check of the claim database. Spring calls this method after Flyway and Liquibase have run, because
     * their scripts may create the claim table.
     */
    @Bean
    @DependsOnDatabaseInitialization
    ClaimDatabase exactlyOnceClaimDatabase(ClaimPool pool, ClaimTable table, ReplicaMonitor replicas) {
        boolean looks = !datasource.replicaLagInterval().isZero();
        return new ClaimDatabase(pool, table, properties.initializeSchema(), looks ? replicas::tick : () -> {});
    }

    @Bean
    PeriodicTaskLifecycle exactlyOnceReplicas(
            EngineScheduler scheduler, ReplicaMonitor replicas, ClaimDatabase database) {
        Duration interval = datasource.replicaLagInterval();
        Runnable look = PeriodicTaskLifecycle.whenReady(database::isReady, replicas::tick);
        return new PeriodicTaskLifecycle(
                () -> interval.isZero() ? () -> {} : scheduler.every(interval, "exactly-once-replicas-1", look));
    }

    /** Deletes claims after their retention. A custom store must delete its own claims. */
    @Bean(RETENTION)
    @ConditionalOnBooleanProperty(name = "exactly-once.claim.cleanup.enabled", matchIfMissing = true)
    PeriodicTaskLifecycle exactlyOnceRetention(
            EngineScheduler scheduler,
            ClaimTable table,
            ClaimDatabase database,
            ObjectProvider<RetentionObserver> observers) {
        ExactlyOnceProperties.Cleanup cleanup = properties.cleanup();
        Retention retention = new Retention(
                table,
                CLEANUP_BATCH,
                observers.orderedStream().toList(),
                System::nanoTime,
                length -> TimeUnit.NANOSECONDS.sleep(length.toNanos()));
        Runnable sweep = PeriodicTaskLifecycle.whenReady(database::isReady, retention::sweep);
        return new PeriodicTaskLifecycle(() -> scheduler.every(cleanup.interval(), "exactly-once-retention-1", sweep));
    }
}
