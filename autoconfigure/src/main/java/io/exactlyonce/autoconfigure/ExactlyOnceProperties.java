package io.exactlyonce.autoconfigure;

import static io.exactlyonce.property.Bounds.require;
import static io.exactlyonce.property.Bounds.requireOrder;
import static io.exactlyonce.property.Bounds.requireOwn;

import io.exactlyonce.ClaimMode;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.delivery.InDoubtSettings;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.postgres.TableName;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.property.InvalidPropertyException;
import io.exactlyonce.property.UnknownProperties;
import io.exactlyonce.queue.VisibilityWindow;
import io.exactlyonce.renewal.RenewalSchedule;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.util.unit.DataSize;

/**
 * Settings of exactly-once listeners.
 *
 * @param mode Mode of listeners that do not set their own: 'enforce', or 'observe' to run handlers as without this
 *     library and count the duplicates that 'enforce' would prevent.
 * @param claim Claims on idempotency keys.
 * @param datasource Connection pool for claims.
 * @param renewal Renewal of visibility timeouts and leases.
 * @param retry Redelivery of messages that were not completed.
 * @param listeners Settings of single listeners, by listener id: 'retention', 'lease', 'timeout', 'mode',
 *     'on-mismatch', 'retry.initial-delay', 'retry.max-delay', 'when-key-missing' and 'max-attempts'. They override the
 *     annotation and the properties for all listeners. Startup fails for an id that no listener has. Default: none.
 * @param unknownProperties Reaction to a property under 'exactly-once' that nothing reads: 'fail' fails startup, 'warn'
 *     logs it, for configuration that several versions of an application share.
 */
@ConfigurationProperties("exactly-once")
public record ExactlyOnceProperties(
        @DefaultValue("enforce") ClaimMode mode,
        @DefaultValue Claim claim,
        @DefaultValue Datasource datasource,
        @DefaultValue Renewal renewal,
        @DefaultValue Retry retry,
        @DefaultValue Map<String, Listener> listeners,
        @DefaultValue("fail") UnknownProperties.Reaction unknownProperties) {

    private static final String LISTENERS = "exactly-once.listeners";
    private static final String CLEANUP_INTERVAL = "exactly-once.claim.cleanup.interval";

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final DataSize LARGEST_RESULT = DataSize.ofMegabytes(16);

    /** Checks each value alone, and then values that must fit together (for example lease and retention). */
    public ExactlyOnceProperties {
        requireOwn("exactly-once.mode", mode, ClaimMode.AS_CONFIGURED);
        requireOwn("exactly-once.claim.on-mismatch", claim.onMismatch(), MismatchPolicy.AS_CONFIGURED);
        require("exactly-once.claim.max-result-size", claim.maxResultSize(), DataSize.ofBytes(0), LARGEST_RESULT);

        Cleanup cleanup = claim.cleanup();
        require(CLEANUP_INTERVAL, cleanup.interval(), SECOND, Duration.ofDays(1));

        // The pool needs at least two connections: one for claims, and one for renewals. Renewals must never wait for
        // claims.
        require("exactly-once.datasource.maximum-pool-size", datasource.maximumPoolSize(), 2, 1000);
        require(ClaimPool.TIMEOUT_PROPERTY, datasource.connectionTimeout(), SECOND, MINUTE);
        Duration lag = datasource.replicaLagInterval();
        require("exactly-once.datasource.replica-lag-interval", lag.isZero() ? null : lag, SECOND, Duration.ofHours(1));

        require("exactly-once.renewal.at", renewal.at(), RenewalSchedule.EARLIEST, RenewalSchedule.LATEST);
        // One statement looks up the keys of all waiting deliveries, and may take an advisory lock for each key.
        // PostgreSQL has room for only some thousands of locks, so the number of waiting deliveries is limited.
        require("exactly-once.retry.max-waiting", retry.maxWaiting(), 0, 5_000);

        Duration swept = cleanup.enabled() ? cleanup.interval() : null;
        Listener all = Listener.of(claim, retry);
        all.requireFit("exactly-once.claim.", "exactly-once.retry.", swept);
        Map<String, Listener> complete = new HashMap<>();
        listeners.forEach((id, own) -> {
            Listener listener = own.or(all);
            listener.requireFit(LISTENERS + "." + id + ".", LISTENERS + "." + id + ".retry.", swept);
            complete.put(id, listener);
        });
        listeners = Map.copyOf(complete);
    }

    /** Fails startup, or logs at WARN, if there are settings for an id that no listener has. */
    void requireListeners(Set<String> known) {
        Set<String> unknown = new TreeSet<>(listeners.keySet());
        unknown.removeAll(known);
        if (!unknown.isEmpty()) {
            UnknownProperties.report(
                    unknownProperties,
                    new InvalidPropertyException(
                            LISTENERS + "." + unknown.iterator().next(),
                            "%s has settings for ids that no @ExactlyOnceListener has (existing ids: %s): %s"
                                    .formatted(
                                            LISTENERS,
                                            known.isEmpty() ? "none" : String.join(", ", known),
                                            String.join(", ", unknown)),
                            "correct the id, give the listener this id, or remove the settings (of a configuration that several"
                                    + " applications share: exactly-once.unknown-properties=warn)"));
        }
    }

    /** Returns each configured lease, with the full name of its property. */
    Map<String, Duration> leases() {
        Map<String, Duration> leases = new LinkedHashMap<>();
        leases.put("exactly-once.claim.lease", claim.lease());
        listeners.forEach((id, listener) -> leases.put(LISTENERS + "." + id + ".lease", listener.lease()));
        leases.values().removeIf(Objects::isNull);
        return leases;
    }

    /**
     * Settings of one listener.
     *
     * @param mode Mode of the listener: 'enforce' or 'observe'. Default: the annotation's mode, or else
     *     'exactly-once.mode'.
     * @param timeout Longest run of the handler, from 1s to 12h. Default: the annotation's timeout.
     * @param lease Time for which a claim is held without renewal, from 1s to 12h. Default: 'exactly-once.claim.lease'.
     * @param retention Time for which a completed key is remembered, from 1m to 3650d. Default:
     *     'exactly-once.claim.retention'.
     * @param onMismatch Treatment of a message whose key is completed for other content: 'refuse', 'warn' or 'off'.
     *     Default: the annotation's onMismatch, or else 'exactly-once.claim.on-mismatch'.
     * @param retry Redelivery of messages that were not completed.
     * @param whenKeyMissing Treatment of a message without a key: 'refuse', 'run-unprotected' to call the handler without a
     *     claim, or 'skip' to delete the message. Default: the annotation's whenKeyMissing.
     * @param maxAttempts Number of attempts that may throw before the key is parked, from 1 to 1000; 0 for any number.
     *     Default: the annotation's maxAttempts.
     */
    public record Listener(
            @Nullable ClaimMode mode,
            @Nullable Duration timeout,
            @Nullable Duration lease,
            @Nullable Duration retention,
            @Nullable MismatchPolicy onMismatch,
            @DefaultValue Delays retry,
            @Nullable MissingKeyPolicy whenKeyMissing,
            @Nullable Integer maxAttempts) {

        /** Returns the settings for all listeners. */
        static Listener of(Claim claim, Retry retry) {
            Delays delays = new Delays(retry.initialDelay(), retry.maxDelay());
            return new Listener(null, null, claim.lease(), claim.retention(), null, delays, null, null);
        }

        /**
         * Returns this listener's settings. If lease, retention or delays are missing, they are taken from the settings
         * for all listeners. Other settings may be missing, because the listener's annotation can contain them.
         */
        Listener or(Listener all) {
            return new Listener(
                    mode,
                    timeout,
                    or(lease, all.lease),
                    or(retention, all.retention),
                    onMismatch,
                    new Delays(or(retry.initialDelay, all.retry.initialDelay), or(retry.maxDelay, all.retry.maxDelay)),
                    whenKeyMissing,
                    maxAttempts);
        }

        private static <T> @Nullable T or(@Nullable T own, @Nullable T all) {
            return own == null ? all : own;
        }

        private void requireFit(String claims, String retries, @Nullable Duration swept) {
            String leased = claims + "lease";
            String kept = claims + "retention";
            String first = retries + "initial-delay";
            String last = retries + "max-delay";
            requireOwn(claims + "mode", mode, ClaimMode.AS_CONFIGURED);
            requireOwn(claims + "on-mismatch", onMismatch, MismatchPolicy.AS_CONFIGURED);
            require(claims + "timeout", timeout, VisibilityWindow.SHORTEST, VisibilityWindow.CEILING);
            require(leased, lease, VisibilityWindow.SHORTEST, VisibilityWindow.CEILING);
            require(kept, retention, MINUTE, Duration.ofDays(3650));
            require(first, retry.initialDelay, VisibilityWindow.SHORTEST, VisibilityWindow.CEILING);
            require(last, retry.maxDelay, VisibilityWindow.SHORTEST, VisibilityWindow.CEILING);
            require(claims + "max-attempts", maxAttempts, 0, InDoubtSettings.MOST_ATTEMPTS);
            requireOrder(last, retry.maxDelay, first, retry.initialDelay, "the delay could not grow");
            requireOrder(kept, retention, leased, lease, "a worker could find its key forgotten during its lease");
            requireOrder(kept, retention, last, retry.maxDelay, "a duplicate returned for so long is handled again");
            requireOrder(kept, retention, CLEANUP_INTERVAL, swept, "most rows would be of forgotten keys");
        }
    }

    /**
     * Redelivery of one listener's messages that were not completed.
     *
     * @param initialDelay Delay before a message is visible again after its first failure, from 1s to 12h. Default:
     *     'exactly-once.retry.initial-delay'.
     * @param maxDelay Largest delay, from 1s to 12h. Default: 'exactly-once.retry.max-delay'.
     */
    public record Delays(
            @Nullable Duration initialDelay, @Nullable Duration maxDelay) {}

    /**
     * Claims on idempotency keys.
     *
     * @param store Store of claims: 'postgresql', or 'dynamodb' with the module exactly-once-dynamodb.
     * @param lease Time for which a claim is held without renewal, from 1s to 12h. Longer leases survive longer pauses
     *     and delay takeovers after a crash. Default: the visibility timeout of the delivery.
     * @param retention Time for which a completed key is remembered, from 1m to 3650d: at least the retention of the
     *     queue plus the retention of its dead-letter queue.
     * @param onMismatch Treatment of a message whose key is completed for other content: 'refuse' returns it until it
     *     reaches the dead-letter queue, 'warn' deletes it as a duplicate and logs at WARN, 'off' deletes it without
     *     comparing.
     * @param maxResultSize Largest result that is kept with a claim, as JSON, from 0B to 16MB. A larger result is
     *     dropped with a warning; its claim is completed.
     * @param tableName Name of the claim table in PostgreSQL, with or without its schema, such as 'shop.claims': lower-case
     *     letters, digits and '_', at most 50 for the table. Without a schema, the search path of the connection decides.
     * @param initializeSchema Creation of a missing claim table at startup: 'always' or 'never'. PostgreSQL is not an
     *     embedded database, so 'embedded' means 'never'.
     * @param synchronousCommit PostgreSQL's synchronous_commit for claims, whatever the server's own default: 'on',
     *     'remote_apply', 'remote_write' or 'local'.
     * @param tenantBeforeHandler Whether the application sets the tenant of a message before its handler is called, by an
     *     interceptor or outer advice. Without it, startup fails if 'effects = DATABASE' meets transactions with
     *     tenants.
     * @param cleanup Deletion of expired claims.
     */
    public record Claim(
            @DefaultValue("postgresql") Store store,
            @Nullable Duration lease,
            @DefaultValue("18d") Duration retention,
            @DefaultValue("refuse") MismatchPolicy onMismatch,
            @DefaultValue("64KB") DataSize maxResultSize,
            @DefaultValue(TableName.DEFAULT) String tableName,
            @DefaultValue("never") DatabaseInitializationMode initializeSchema,
            @DefaultValue("on") SynchronousCommit synchronousCommit,
            @DefaultValue("false") boolean tenantBeforeHandler,
            @DefaultValue Cleanup cleanup) {

        private static final String TABLE_NAME = "exactly-once.claim.table-name";

        public Claim {
            if (!TableName.isValid(tableName)) {
                throw new InvalidPropertyException(
                        TABLE_NAME,
                        "%s (%s) must be %s".formatted(TABLE_NAME, tableName, TableName.FORM),
                        "write it as PostgreSQL lists it, without quotation marks, and rename a table whose name needs them");
            }
            if (store == Store.DYNAMODB && !tableName.equals(TableName.DEFAULT)) {
                throw new InvalidPropertyException(
                        TABLE_NAME,
                        "%s (%s) is for claims in PostgreSQL, but exactly-once.claim.store is dynamodb"
                                .formatted(TABLE_NAME, tableName),
                        "set exactly-once.dynamodb.table-name instead");
            }
        }
    }

    /** The store of claims. */
    public enum Store {
        POSTGRESQL("exactly-once-postgres"),
        DYNAMODB("exactly-once-dynamodb");

        private final String module;

        Store(String module) {
            this.module = module;
        }

        /** Returns the exception that fails startup if the module of this store is missing. */
        InvalidPropertyException isMissing() {
            return new InvalidPropertyException(
                    "exactly-once.claim.store",
                    "exactly-once.claim.store is %s, and its module is not on the class path"
                            .formatted(name().toLowerCase(Locale.ROOT)),
                    "add io.exactlyonce:%s, or name the store whose module is there".formatted(module));
        }
    }

    /**
     * Deletion of expired claims.
     *
     * @param enabled Whether to delete expired claims.
     * @param interval Advanced: time between two deletions of expired claims, from 1s to 1d. One instance deletes at a
     *     time.
     */
    public record Cleanup(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("1m") Duration interval) {}

    /**
     * Connection pool for claims.
     *
     * @param url JDBC URL of the primary that stores the claims. Default: address, user and password of the application's
     *     primary DataSource, read for each new connection.
     * @param username User for 'exactly-once.datasource.url'. Default: the user in the URL.
     * @param password Password for 'exactly-once.datasource.url', read at startup. A HikariCredentialsProvider bean marked
     *     '@ExactlyOnceDataSource' overrides user and password for each new connection. Default: the password in the URL.
     * @param maximumPoolSize Largest number of connections for claims, from 2 to 1000. Deletion of expired claims opens
     *     one more.
     * @param connectionTimeout Longest wait for a connection, and for opening one, from 1s to 1m. Set at least ten
     *     round trips for a distant database.
     * @param replicaLagInterval Advanced: time between two reads of the replication lag, from 1s to 1h. 0 turns them
     *     off.
     */
    public record Datasource(
            @Nullable String url,
            @Nullable String username,
            @Nullable String password,
            @DefaultValue("10") int maximumPoolSize,
            @DefaultValue("3s") Duration connectionTimeout,
            @DefaultValue("10s") Duration replicaLagInterval) {

        private static final String URL = "exactly-once.datasource.url";

        private static final String STATIC =
                "exactly-once.datasource.username and .password are read at startup; to rotate them, mark a"
                        + " HikariCredentialsProvider bean with @ExactlyOnceDataSource";

        public Datasource {
            if (url == null && (username != null || password != null)) {
                throw new InvalidPropertyException(
                        URL,
                        "exactly-once.datasource.username and exactly-once.datasource.password are for " + URL
                                + ", which is missing",
                        "set it as well, or remove them to use the application's connection details");
            }
            if (url != null && !ClaimPool.Target.isPostgresql(url)) {
                // The URL may contain a password, so only the part before the host is quoted.
                String shown = url.isBlank() ? "which is empty" : url.substring(0, url.indexOf("//") + 1) + "...";
                throw new InvalidPropertyException(
                        URL,
                        "%s (%s) must begin with jdbc:postgresql:: claims need PostgreSQL".formatted(URL, shown),
                        "set it to jdbc:postgresql://host:port/database, or remove it to use the application's database");
            }
            if (url != null && !ClaimPool.Target.isClear(url)) {
                throw new InvalidPropertyException(
                        URL,
                        "%s is not shown, since it may hold secrets: it is not of the form %s"
                                .formatted(URL, ClaimPool.Target.FORM),
                        "correct it; user and password belong in exactly-once.datasource.username and .password");
            }
        }

        /** Returns the database for claims that these properties name; {@code null} if there is no URL. */
        ClaimPool.@Nullable Target target() {
            return url == null
                    ? null
                    : new ClaimPool.Target(URL, url, username, password).as(username, password, STATIC);
        }

        /** Leaves URL and password out. */
        @Override
        public String toString() {
            return "Datasource[maximumPoolSize=%d]".formatted(maximumPoolSize);
        }
    }

    /**
     * Renewal of visibility timeouts and leases.
     *
     * @param enabled Whether to renew visibility timeouts and leases. Without renewal, both must outlast the handler.
     * @param at Advanced: fraction of a visibility timeout or lease after which it is renewed, from 0.1 to 0.8.
     */
    public record Renewal(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("0.5") double at) {

        /**
         * A renewal is up to 10 % earlier than planned, at random. Otherwise deliveries that were received together
         * would always be renewed together.
         */
        private static final double JITTER = 0.1;

        RenewalSchedule schedule() {
            return new RenewalSchedule(enabled, at, JITTER);
        }
    }

    /**
     * Redelivery of messages that were not completed.
     *
     * @param initialDelay Delay before a message is visible again after its first failure, from 1s to 12h. The delay
     *     doubles with each receive. The actual delay is random, between half of it and all of it.
     * @param maxDelay Largest delay, from 1s to 12h.
     * @param maxWaiting Advanced: largest number of deliveries that wait in memory, invisible, for the owner of their
     *     key or for the claim store, from 0 to 5000. Further deliveries are returned to the queue.
     */
    public record Retry(
            @DefaultValue("1s") Duration initialDelay,
            @DefaultValue("5m") Duration maxDelay,
            @DefaultValue("1000") int maxWaiting) {}
}
