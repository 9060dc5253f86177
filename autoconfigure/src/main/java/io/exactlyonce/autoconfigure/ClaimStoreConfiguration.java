package io.exactlyonce.autoconfigure;

import io.exactlyonce.ExactlyOnceSetupException;
import io.exactlyonce.autoconfigure.ExactlyOnceProperties.Store;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.RetentionObserver;
import io.exactlyonce.claim.coalescing.CoalescingClaimStore;
import io.exactlyonce.claim.coalescing.CoalescingSettings;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.PostgresParkedClaims;
import io.exactlyonce.claim.postgres.Retention;
import io.exactlyonce.claim.postgres.startup.ClaimDatabase;
import io.exactlyonce.listener.container.StartLine;
import io.exactlyonce.primary.ExactlyOnceDataSource;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.primary.replica.ReplicaLagMonitor;
import io.exactlyonce.primary.replica.ReplicaObserver;
import io.exactlyonce.time.Clockwork;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Where claims are kept: in PostgreSQL, unless the application has a store of its own. Then no database is needed. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(ClaimStore.class)
class ClaimStoreConfiguration {

    static final String DATA_SOURCE = "exactlyOnceDataSource";
    static final String RETENTION = "exactlyOnceRetention";

    /** No candidate for injection: the application's own DataSource stays the only one. */
    @Bean(name = DATA_SOURCE, defaultCandidate = false)
    PrimaryPinnedDataSource exactlyOnceDataSource(
            ExactlyOnceProperties properties,
            @ExactlyOnceDataSource ObjectProvider<DataSource> marked,
            ObjectProvider<JdbcConnectionDetails> connectionDetails,
            ObjectProvider<DataSourceProperties> applicationProperties,
            Environment environment) {
        requirePostgres(properties);
        return ClaimPool.of(
                properties,
                marked.getIfAvailable(),
                () -> ClaimPool.application(connectionDetails.getIfAvailable(), applicationProperties, environment));
    }

    private static void requirePostgres(ExactlyOnceProperties properties) {
        if (properties.claim().store() != Store.POSTGRESQL) {
            throw new MissingStoreException(properties.claim().store());
        }
    }

    /** Closed after renewals have stopped, which use it, and before the pool, which it uses. */
    @Bean
    ClaimStore exactlyOnceClaimStore(
            @Qualifier(DATA_SOURCE) PrimaryPinnedDataSource dataSource, ExactlyOnceProperties properties) {
        int connections = dataSource.maximumPoolSize() - ClaimPool.forCleanup(properties);
        ClaimStore store = new PostgresClaimStore(
                dataSource, properties.claim().retention(), properties.claim().synchronousCommit());
        ExactlyOnceProperties.Coalescing coalescing = properties.claim().coalescing();
        // One connection is left to renewals, and one to looks.
        int flushers = Math.max(1, Math.min(coalescing.flushers(), connections - 2));
        return new CoalescingClaimStore(
                store,
                new CoalescingSettings(flushers, coalescing.maxBatch(), coalescing.patience()),
                System::nanoTime);
    }

    @Bean
    StartLine.Place exactlyOnceClaimPlace(@Qualifier(DATA_SOURCE) PrimaryPinnedDataSource dataSource) {
        return new StartLine.Place("%s (primary)".formatted(dataSource.target()));
    }

    @Bean
    ReplicaLagMonitor exactlyOnceReplicaLagMonitor(
            @Qualifier(DATA_SOURCE) PrimaryPinnedDataSource dataSource,
            Clockwork clockwork,
            ExactlyOnceProperties properties,
            ObjectProvider<ReplicaObserver> observers) {
        // Found now: a look that is under way while the context closes can make no bean any more.
        List<ReplicaObserver> found = observers.orderedStream().toList();
        return new ReplicaLagMonitor(
                dataSource,
                clockwork,
                properties.datasource().replicaLagInterval(),
                replicas -> found.forEach(observer -> observer.observed(replicas)));
    }

    @Bean
    @ConditionalOnMissingBean
    ParkedClaims exactlyOnceParkedClaims(
            @Qualifier(DATA_SOURCE) PrimaryPinnedDataSource dataSource, ExactlyOnceProperties properties) {
        return new PostgresParkedClaims(
                dataSource, properties.claim().retention(), properties.claim().synchronousCommit());
    }

    /** After Flyway and Liquibase, also where beans are lazy. */
    @Bean
    @DependsOnDatabaseInitialization
    ClaimDatabase exactlyOnceClaimDatabase(
            @Qualifier(DATA_SOURCE) PrimaryPinnedDataSource dataSource,
            ExactlyOnceProperties properties,
            ReplicaLagMonitor replicas) {
        return new ClaimDatabase(dataSource, properties.claim().initializeSchema(), replicas);
    }

    /** Deletes claims whose retention is over; a store of the application's own deletes its claims itself. */
    @Bean(RETENTION)
    @ConditionalOnBooleanProperty(name = "exactly-once.claim.cleanup.enabled", matchIfMissing = true)
    TickLifecycle exactlyOnceRetention(
            Clockwork clockwork,
            @Qualifier(DATA_SOURCE) PrimaryPinnedDataSource dataSource,
            ClaimDatabase database,
            ExactlyOnceProperties properties,
            ObjectProvider<RetentionObserver> observers) {
        ExactlyOnceProperties.Cleanup cleanup = properties.claim().cleanup();
        Retention retention = new Retention(
                dataSource,
                cleanup.batchSize(),
                observers.orderedStream().toList(),
                System::nanoTime,
                length -> TimeUnit.NANOSECONDS.sleep(length.toNanos()));
        Runnable sweep = () -> {
            // An application that claims nothing does not connect for this either.
            if (database.isReady()) {
                retention.tick();
            }
        };
        return new TickLifecycle(clockwork, "exactly-once-retention-1", sweep, cleanup.interval());
    }

    /** Claims are to be kept by a store whose module is not there. */
    static final class MissingStoreException extends ExactlyOnceSetupException {

        MissingStoreException(Store store) {
            super(
                    "exactly-once.claim.store is %s, and its module is not on the class path".formatted(name(store)),
                    "add io.exactlyonce:exactly-once-%s, or remove the property to keep claims in PostgreSQL"
                            .formatted(name(store)),
                    null);
        }

        private static String name(Store store) {
            return store.name().toLowerCase(Locale.ROOT);
        }
    }
}
