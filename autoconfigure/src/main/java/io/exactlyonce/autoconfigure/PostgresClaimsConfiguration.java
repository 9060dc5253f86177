package io.exactlyonce.autoconfigure;

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
import io.exactlyonce.claim.postgres.transaction.TransactionCheck;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.ExactlyOnceDataSource;
import io.exactlyonce.primary.ReplicaMonitor;
import io.exactlyonce.primary.ReplicaObserver;
import io.exactlyonce.property.InvalidPropertyException;
import io.exactlyonce.time.EngineScheduler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Keeps claims in PostgreSQL, unless the application has its own store. Then no database is needed. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(PostgresClaimStore.class)
@ConditionalOnMissingBean(ClaimStore.class)
class PostgresClaimsConfiguration {

    static final String RETENTION = "exactlyOnceRetention";

    /** Rows that one transaction deletes: it ends in milliseconds, and the next one follows while there are more. */
    private static final int CLEANUP_BATCH = 500;

    private static final String APPLICATIONS_POOL = "spring.datasource.hikari.";

    private final ExactlyOnceProperties.Claim properties;
    private final ExactlyOnceProperties.Datasource datasource;
    private final Map<String, Duration> leases;

    /** Connections of a pool for the deletion of expired claims: it takes none from claims. */
    private final int forCleanup;

    PostgresClaimsConfiguration(ExactlyOnceProperties properties) {
        this.properties = properties.claim();
        this.datasource = properties.datasource();
        this.leases = properties.leases();
        this.forCleanup = properties.claim().cleanup().enabled() ? 1 : 0;
    }

    /** No {@code DataSource} for Boot and the application: it is neither injected nor a part of {@code db}. */
    @Bean
    ClaimPool exactlyOnceClaimPool(
            @ExactlyOnceDataSource ObjectProvider<DataSource> marked,
            ObjectProvider<JdbcConnectionDetails> connectionDetails,
            ObjectProvider<DataSourceProperties> applicationProperties,
            Environment environment) {
        if (properties.store() == Store.DYNAMODB) {
            throw properties.store().isMissing();
        }
        DataSource bean = marked.getIfAvailable();
        if (bean != null) {
            return requireShorterWait(ClaimPool.around(bean, datasource.maximumPoolSize()));
        }
        String url = datasource.url();
        ClaimPool.Target target = url == null
                ? application(connectionDetails.getIfAvailable(), applicationProperties, environment)
                : new ClaimPool.Target(
                        "exactly-once.datasource.url", url, datasource.username(), datasource.password());
        int size = datasource.maximumPoolSize() + forCleanup;
        return requireShorterWait(new ClaimPool(target, size, datasource.connectionTimeout()));
    }

    /** If the visibility timeout is the lease, the audit checks it. */
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

    /**
     * A service connection's details override properties, as for the application's own pool. They include that pool's
     * settings of driver and connections: TLS, and the schema.
     */
    static ClaimPool.Target application(
            @Nullable JdbcConnectionDetails details,
            ObjectProvider<DataSourceProperties> properties,
            Environment environment) {
        Binder binder = Binder.get(environment);
        String driversOwn = APPLICATIONS_POOL + "data-source-class-name";
        binder.bind(driversOwn, String.class).ifBound(type -> {
            throw new InvalidPropertyException(
                    driversOwn,
                    "%s (%s) has no JDBC URL for claims".formatted(driversOwn, type),
                    "set exactly-once.datasource.url, .username and .password for claims");
        });
        DataSourceProperties named = properties.getIfAvailable(DataSourceProperties::new);
        return new ClaimPool.Target(
                "spring.datasource.url",
                details == null ? named.determineUrl() : details.getJdbcUrl(),
                details == null ? named.determineUsername() : details.getUsername(),
                details == null ? named.determinePassword() : details.getPassword(),
                binder.bind(APPLICATIONS_POOL + "data-source-properties", Bindable.mapOf(String.class, String.class))
                        .orElse(Map.of()),
                binder.bind(APPLICATIONS_POOL + "schema", String.class).orElse(null),
                binder.bind(APPLICATIONS_POOL + "connection-init-sql", String.class)
                        .orElse(null));
    }

    @Bean
    ClaimTable exactlyOnceClaimTable(ClaimPool pool) {
        return new ClaimTable(pool.dataSource(), properties.retention(), properties.synchronousCommit());
    }

    @Bean
    TransactionCheck exactlyOnceTransactionCheck(ClaimTable table, BeanFactory beans) {
        return new TransactionCheck(table, beans);
    }

    @Bean
    ClaimStore exactlyOnceClaimStore(ClaimTable table) {
        return new PostgresClaimStore(table);
    }

    /**
     * Leaves one connection to renewals, and one to peeks. A wait behind a transaction has the time limit of a wait for
     * a connection.
     */
    @Bean
    GroupCommitSettings exactlyOnceGroupCommit(ClaimPool pool) {
        GroupCommitSettings usual = GroupCommitSettings.USUAL;
        int connections = Math.max(1, pool.maximumPoolSize() - forCleanup - 2);
        Duration timeout = pool.chosenTimeout().orElse(Duration.ZERO);
        return new GroupCommitSettings(
                Math.min(connections, usual.flushers()),
                usual.maxBatch(),
                timeout.compareTo(usual.queueTimeout()) > 0 ? timeout : usual.queueTimeout());
    }

    @Bean
    @ConditionalOnMissingBean
    ParkedClaims exactlyOnceParkedClaims(ClaimTable table) {
        return new PostgresParkedClaims(table);
    }

    @Bean
    ReplicaMonitor exactlyOnceReplicaMonitor(ClaimPool pool, ObjectProvider<ReplicaObserver> observers) {
        return new ReplicaMonitor(
                pool, properties.synchronousCommit(), observers.orderedStream().toList());
    }

    /** After Flyway and Liquibase, also where beans are lazy. */
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
        Runnable look = whenReady(database, replicas::tick);
        return new PeriodicTaskLifecycle(
                () -> interval.isZero() ? () -> {} : scheduler.every(interval, "exactly-once-replicas-1", look));
    }

    /** An application that claims nothing does not connect for other things either. */
    private static Runnable whenReady(ClaimDatabase database, Runnable tick) {
        return () -> {
            if (database.isReady()) {
                tick.run();
            }
        };
    }

    /** Deletes claims after their retention; a custom store deletes its claims itself. */
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
        Runnable sweep = whenReady(database, retention::sweep);
        return new PeriodicTaskLifecycle(() -> scheduler.every(cleanup.interval(), "exactly-once-retention-1", sweep));
    }
}
