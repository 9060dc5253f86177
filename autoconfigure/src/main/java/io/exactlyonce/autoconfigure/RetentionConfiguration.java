package io.exactlyonce.autoconfigure;

import io.exactlyonce.claim.RetentionObserver;
import io.exactlyonce.claim.postgres.retention.ClaimSweeper;
import io.exactlyonce.claim.postgres.retention.RetentionLifecycle;
import io.exactlyonce.claim.postgres.startup.ClaimDatabase;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.time.Jitter;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Deletion of claims whose retention is over. A store of the application's own deletes its claims itself. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(ClaimDatabase.class)
@ConditionalOnBooleanProperty(name = "exactly-once.claim.cleanup.enabled", matchIfMissing = true)
class RetentionConfiguration {

    @Bean
    RetentionLifecycle exactlyOnceRetention(
            @Qualifier(ClaimStoreConfiguration.DATA_SOURCE) PrimaryPinnedDataSource dataSource,
            ClaimDatabase database,
            ExactlyOnceProperties properties,
            ObjectProvider<RetentionObserver> observers) {
        ExactlyOnceProperties.Cleanup cleanup = properties.claim().cleanup();
        ClaimSweeper retention = new ClaimSweeper(
                dataSource,
                cleanup.batchSize(),
                observers.orderedStream().toList(),
                System::nanoTime,
                length -> TimeUnit.NANOSECONDS.sleep(length.toNanos()));
        return new RetentionLifecycle(retention, database::isReady, cleanup.interval(), Jitter.RANDOM);
    }
}
