package io.exactlyonce.primary;

import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.postgres.SynchronousCommit;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Reads how far the replicas are behind the primary, and logs at WARN if a failover may lose claims. As long as the
 * danger lasts, the line is not repeated. Each reading uses a connection of the claims' pool for a few milliseconds.
 *
 * <p>Not guaranteed: an exact lag. The server measures the lag only while there are writes. If a replica stalls, its
 * lag may stay the same while the bytes that it has not replayed increase.
 */
public final class ReplicaMonitor {

    /** At most this many replicas are reported, because each one has a gauge of its own. */
    static final int MAX_REPLICAS = 16;

    /**
     * Selects the replicas that can become the primary. Base backups and subscribers of logical replication cannot.
     */
    private static final String SELECT = PgCatalog.sql("""
            SELECT CASE WHEN r.application_name {<>} '' THEN r.application_name ELSE 'unnamed' END
                       {||} '@' {||} coalesce(pg_catalog.host(r.client_addr), 'local') AS replica,
                   r.state IS NOT NULL AS visible,
                   coalesce(r.sync_state {=} 'sync' OR r.sync_state {=} 'quorum', false) AS synchronous,
                   coalesce(extract(epoch FROM r.replay_lag) {*} 1000, 0)::bigint AS lag_millis,
                   greatest(pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), r.replay_lsn), 0)::bigint AS bytes
            FROM pg_catalog.pg_stat_replication AS r
            LEFT JOIN pg_catalog.pg_replication_slots AS slot ON slot.active_pid {=} r.pid
            WHERE (slot.slot_type {=} 'logical') IS NOT TRUE AND (r.state {=} 'backup') IS NOT TRUE
            """);

    private static final Logger log = LoggerFactory.getLogger(ReplicaMonitor.class);

    private final JdbcTemplate primary;
    private final SynchronousCommit synchronousCommit;
    private final List<ReplicaObserver> observers;
    private boolean mayForgetClaims;
    private boolean blind;
    private boolean failing;

    /**
     * A row of {@code pg_stat_replication}.
     *
     * @param visible whether this user may see the details of the row
     * @param synchronous whether commits may wait for this replica
     */
    record Status(String replica, boolean visible, boolean synchronous, long lagMillis, long bytes) {

        /**
         * Returns the lag. If the replica has replayed everything, returns zero, even if the server still reports the
         * delay of the last commit.
         */
        ReplicaLag lag() {
            return new ReplicaLag(replica, Duration.ofMillis(bytes == 0 ? 0 : lagMillis), bytes);
        }
    }

    /**
     * @param synchronousCommit the replicas for which a claim's commit waits
     * @param observers called after each reading
     */
    public ReplicaMonitor(ClaimPool claims, SynchronousCommit synchronousCommit, List<ReplicaObserver> observers) {
        this.primary = new JdbcTemplate(claims.dataSource());
        this.synchronousCommit = synchronousCommit;
        this.observers = observers;
    }

    /** Reads the replicas once, and notifies the observers. A failure is logged and not thrown. */
    public synchronized void tick() {
        List<ReplicaLag> replicas = read();
        Boundary.notifySafely(observers, observer -> observer.observed(replicas));
    }

    private List<ReplicaLag> read() {
        List<Status> all;
        try {
            all = primary.query(SELECT, DataClassRowMapper.newInstance(Status.class));
        } catch (RuntimeException failure) {
            unreadable(failure);
            return List.of();
        }
        warn(all);
        Map<String, ReplicaLag> slowest = all.stream()
                .filter(Status::visible)
                .collect(Collectors.toMap(Status::replica, Status::lag, ReplicaLag::or));
        return slowest.values().stream()
                .sorted(Comparator.comparing(ReplicaLag::lag).reversed())
                .limit(MAX_REPLICAS)
                .toList();
    }

    /**
     * Logs the first of several failed readings. If the thread was interrupted, logs nothing, because the application
     * is stopping.
     */
    void unreadable(RuntimeException failure) {
        if (!failing && !Thread.currentThread().isInterrupted()) {
            failing = true;
            log.warn("Replica lag cannot be read, so it is not reported", PrintableException.of(failure));
        }
    }

    void warn(List<Status> all) {
        failing = false;
        boolean nowBlind = all.stream().anyMatch(status -> !status.visible());
        if (nowBlind && !blind) {
            log.warn(
                    "Lag and synchronous state of replicas are hidden: this database user lacks rights on other sessions'"
                            + " rows of pg_stat_replication. As a superuser, run GRANT pg_monitor TO <user>"
                            + " (pg_read_all_stats is enough)");
        }
        blind = nowBlind;
        boolean waits =
                synchronousCommit != SynchronousCommit.LOCAL && all.stream().anyMatch(Status::synchronous);
        boolean mayForget = !all.isEmpty() && !waits;
        if (nowBlind || mayForget == mayForgetClaims) {
            return;
        }
        mayForgetClaims = mayForget;
        if (!mayForget) {
            log.info("Commits of claims wait for a synchronous replica again, or no replica is connected");
            return;
        }
        log.warn(
                "A failover may forget claims, so effects outside this database may happen again: commits do not wait for"
                        + " any of the replicas {} (exactly-once.claim.synchronous-commit is {}). Name synchronous"
                        + " replicas in the primary's synchronous_standby_names, such as 'ANY 1 (*)', and set"
                        + " synchronous-commit to on or remote_apply",
                all.stream().map(Status::replica).distinct().collect(Collectors.joining(", ")),
                synchronousCommit.setting());
    }
}
