package io.exactlyonce.autoconfigure;

import static io.exactlyonce.claim.groupcommit.GroupCommitSettings.LARGEST_BATCH;
import static io.exactlyonce.claim.groupcommit.GroupCommitSettings.MOST_FLUSHERS;
import static io.exactlyonce.property.Bounds.require;
import static io.exactlyonce.property.Bounds.requireOrder;

import io.exactlyonce.Mode;
import io.exactlyonce.claim.SynchronousCommit;
import io.exactlyonce.claim.groupcommit.GroupCommitSettings;
import io.exactlyonce.delivery.MismatchPolicy;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.property.InvalidPropertyException;
import io.exactlyonce.property.UnknownProperties;
import io.exactlyonce.renewal.RenewalSchedule;
import io.exactlyonce.visibility.VisibilityWindow;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.util.unit.DataSize;

/**
 * Settings of exactly-once listeners.
 *
 * @param mode Whether listeners that do not say it themselves are enforced, or only observed: 'enforce', or 'observe' for
 *     handlers that run as they would anyway, while all is counted that enforcing would have prevented.
 * @param claim Claims on idempotency keys.
 * @param datasource Connection pool for claims.
 * @param renewal Renewal of visibility windows and leases.
 * @param retry Return of deliveries that did not succeed.
 * @param unknownProperties Whether a property within 'exactly-once' that nothing reads stops the start: 'fail', or 'warn' for
 *     configuration that several versions share.
 */
@ConfigurationProperties("exactly-once")
public record ExactlyOnceProperties(
        @DefaultValue("enforce") Mode mode,
        @DefaultValue Claim claim,
        @DefaultValue Datasource datasource,
        @DefaultValue Renewal renewal,
        @DefaultValue Retry retry,
        @DefaultValue("fail") UnknownProperties.Reaction unknownProperties) {

    private static final String RETENTION = "exactly-once.claim.retention";
    private static final String LEASE = "exactly-once.claim.lease";
    private static final String INITIAL_DELAY = "exactly-once.retry.initial-delay";
    private static final String MAX_DELAY = "exactly-once.retry.max-delay";
    private static final String CLEANUP_INTERVAL = "exactly-once.claim.cleanup.interval";

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final DataSize LARGEST_RESULT = DataSize.ofMegabytes(16);

    /** All bounds of single values, and then of pairs. */
    public ExactlyOnceProperties {
        Duration kept = claim.retention();
        require(LEASE, claim.lease(), SECOND, VisibilityWindow.CEILING);
        require(RETENTION, kept, MINUTE, Duration.ofDays(3650));
        require("exactly-once.claim.max-result-size", claim.maxResultSize(), DataSize.ofBytes(0), LARGEST_RESULT);

        Cleanup cleanup = claim.cleanup();
        require(CLEANUP_INTERVAL, cleanup.interval(), SECOND, Duration.ofDays(1));
        require("exactly-once.claim.cleanup.batch-size", cleanup.batchSize(), 1, 10_000);

        Coalescing shared = claim.coalescing();
        require("exactly-once.claim.coalescing.flushers", shared.flushers(), 1, MOST_FLUSHERS);
        require("exactly-once.claim.coalescing.max-batch", shared.maxBatch(), 1, LARGEST_BATCH);
        require("exactly-once.claim.coalescing.patience", shared.patience(), Duration.ofMillis(100), MINUTE);

        // One for renewals, which must never wait for claims.
        require("exactly-once.datasource.maximum-pool-size", datasource.maximumPoolSize(), 2, 1000);
        require(ClaimPool.TIMEOUT_PROPERTY, datasource.connectionTimeout(), SECOND, MINUTE);
        Duration lag = datasource.replicaLagInterval();
        require("exactly-once.datasource.replica-lag-interval", lag.isZero() ? null : lag, SECOND, Duration.ofHours(1));

        require("exactly-once.renewal.at", renewal.at(), 0.1, 0.8);
        require("exactly-once.renewal.jitter", renewal.jitter(), 0.0, 0.5);

        require(INITIAL_DELAY, retry.initialDelay(), SECOND, VisibilityWindow.CEILING);
        require(MAX_DELAY, retry.maxDelay(), SECOND, VisibilityWindow.CEILING);
        // All are looked at in one statement, whose advisory locks have to fit into PostgreSQL's table of locks.
        require("exactly-once.retry.max-waiting", retry.maxWaiting(), 0, 5_000);

        Duration swept = cleanup.enabled() ? cleanup.interval() : null;
        requireOrder(MAX_DELAY, retry.maxDelay(), INITIAL_DELAY, retry.initialDelay(), "the delay could not grow");
        requireOrder(RETENTION, kept, LEASE, claim.lease(), "a worker could find its key forgotten during its lease");
        requireOrder(RETENTION, kept, MAX_DELAY, retry.maxDelay(), "a duplicate returned for so long is handled again");
        requireOrder(RETENTION, kept, CLEANUP_INTERVAL, swept, "most rows would be of forgotten keys");
    }

    /**
     * Claims on idempotency keys.
     *
     * @param store Where claims are kept: 'postgresql', or 'dynamodb' with the module exactly-once-dynamodb.
     * @param lease Time for which a claim holds unless it is renewed, from 1s to 12h. Default: the visibility window of
     *     the delivery.
     * @param retention Time for which a completed key is remembered, from 1m to 3650d. At least as long as the queue and
     *     its dead-letter queue keep messages: by default SQS's own 4d, and 14d in a dead-letter queue. No shorter than
     *     the lease, 'retry.max-delay' and 'claim.cleanup.interval'.
     * @param onMismatch What becomes of a message whose key is completed for another payload: 'refuse', 'warn' or 'off'.
     * @param maxResultSize Largest result that is kept with a claim, as JSON, from 0B to 16MB.
     * @param initializeSchema Whether to create the claim table at start-up if it is missing: 'embedded' (never, for PostgreSQL),
     *     'always' or 'never'.
     * @param synchronousCommit Disks that a commit of claims waits for, whatever the database's own default: 'on',
     *     'remote_apply', 'remote_write' or 'local'.
     * @param cleanup Deletion of claims whose retention is over.
     * @param coalescing Sharing of transactions by claims that come at the same time.
     */
    public record Claim(
            @DefaultValue("postgresql") Store store,
            @Nullable Duration lease,
            @DefaultValue("18d") Duration retention,
            @DefaultValue("refuse") MismatchPolicy onMismatch,
            @DefaultValue("64KB") DataSize maxResultSize,
            @DefaultValue("embedded") DatabaseInitializationMode initializeSchema,
            @DefaultValue("on") SynchronousCommit synchronousCommit,
            @DefaultValue Cleanup cleanup,
            @DefaultValue Coalescing coalescing) {}

    /** Where claims are kept. */
    public enum Store {
        POSTGRESQL("exactly-once-postgres"),
        DYNAMODB("exactly-once-dynamodb");

        private final String module;

        Store(String module) {
            this.module = module;
        }

        /** Returns what keeps the application from starting if nothing keeps its claims. */
        InvalidPropertyException isMissing() {
            return new InvalidPropertyException(
                    "exactly-once.claim.store",
                    "exactly-once.claim.store is %s, and its module is not on the class path"
                            .formatted(name().toLowerCase(Locale.ROOT)),
                    "add io.exactlyonce:%s, or name the store whose module is there".formatted(module));
        }
    }

    /**
     * Deletion of claims whose retention is over.
     *
     * @param enabled Whether to delete claims whose retention is over.
     * @param interval Time between two sweeps, from 1s to 1d. Of all instances one deletes at a time.
     * @param batchSize Most claims that one transaction deletes, from 1 to 10000.
     */
    public record Cleanup(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("1m") Duration interval,
            @DefaultValue("500") int batchSize) {}

    /**
     * Sharing of transactions by claims that come at the same time. No claim waits for another one to come.
     *
     * @param flushers Most of these transactions at a time, besides one of renewals, from 1 to 16. With PostgreSQL at most two
     *     less than the connections of the pool, and at least 1. More than 2 pay only for a ClaimStore of your own that
     *     answers the claims of a call one by one.
     * @param maxBatch Claims, completions and releases with which a transaction takes no further ones, from 1 to 256.
     * @param patience Longest wait for a transaction to begin, from 100ms to 60s. After that the delivery is returned.
     */
    public record Coalescing(
            @DefaultValue("2") int flushers,
            @DefaultValue("256") int maxBatch,
            @DefaultValue("3s") Duration patience) {

        /** Returns what a store that takes no more than this makes of it. */
        public GroupCommitSettings settings(int mostFlushers, int largestBatch) {
            return new GroupCommitSettings(
                    Math.min(flushers, mostFlushers), Math.min(maxBatch, largestBatch), patience);
        }
    }

    /**
     * Connection pool for claims.
     *
     * @param url JDBC URL of the primary that keeps claims. Default: the application's own.
     * @param username User for that URL. Default: none; the URL may name one.
     * @param password Password for that URL. Default: none; the URL may have one.
     * @param maximumPoolSize Most connections that claims use, from 2 to 1000. Deletion of expired claims opens one more.
     * @param connectionTimeout Longest wait for a connection, and for a new one to be opened, from 1s to 1m. Shorter than
     *     the lease; at least ten round trips to a database that is far away.
     * @param replicaLagInterval Time between two looks at how far replicas are behind, from 1s to 1h; 0 for none.
     */
    public record Datasource(
            @Nullable String url,
            @Nullable String username,
            @Nullable String password,
            @DefaultValue("10") int maximumPoolSize,
            @DefaultValue("3s") Duration connectionTimeout,
            @DefaultValue("10s") Duration replicaLagInterval) {

        private static final String URL = "exactly-once.datasource.url";

        public Datasource {
            if (url == null && (username != null || password != null)) {
                throw new InvalidPropertyException(
                        URL,
                        "exactly-once.datasource.username and exactly-once.datasource.password are for " + URL
                                + ", which is missing",
                        "set it as well, or remove them to use the application's connection details");
            }
            // Also those of drivers around PostgreSQL's, such as jdbc:aws-wrapper:postgresql:.
            if (url != null && !url.matches("(?s)jdbc:([\\w-]+:)*postgresql:.*")) {
                // It may hold a password: quoted is no more than what comes before the host.
                String shown = url.isBlank() ? "which is empty" : url.substring(0, url.indexOf("//") + 1) + "...";
                throw new InvalidPropertyException(
                        URL,
                        "%s (%s) must begin with jdbc:postgresql:: claims need PostgreSQL".formatted(URL, shown),
                        "set it to jdbc:postgresql://host:port/database, or remove it to use the application's database");
            }
        }

        /** Without URL and password. */
        @Override
        public String toString() {
            return "Datasource[maximumPoolSize=%d]".formatted(maximumPoolSize);
        }
    }

    /**
     * Renewal of visibility windows and leases.
     *
     * @param enabled Whether windows and leases are renewed. If not, both must cover the handler.
     * @param at Part of a window or lease after which it is renewed, from 0.1 to 0.8.
     * @param jitter Part of that interval by which deliveries renew earlier at random, from 0 to 0.5.
     */
    public record Renewal(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("0.5") double at,
            @DefaultValue("0.1") double jitter) {

        RenewalSchedule schedule() {
            return new RenewalSchedule(enabled, at, jitter);
        }
    }

    /**
     * Return of deliveries that did not succeed. The delay doubles with each receive.
     *
     * @param initialDelay Time until a message is visible again after its first failure, from 1s to 12h.
     * @param maxDelay Longest such time, from 1s to 12h; no shorter than the initial delay.
     * @param maxWaiting Most deliveries that wait, invisible, for the holder of their key or for the database, from 0 to
     *     5000. More are returned.
     */
    public record Retry(
            @DefaultValue("1s") Duration initialDelay,
            @DefaultValue("5m") Duration maxDelay,
            @DefaultValue("1000") int maxWaiting) {}
}
