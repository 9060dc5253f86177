package io.exactlyonce.primary.replica;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A row of {@code pg_stat_replication}.
 *
 * @param replica its name and address
 * @param visible whether this user may see more than that it exists
 * @param synchronous whether commits may wait for it
 * @param reportedLag what the server measured between a commit and its replay there; empty without traffic, or unseen
 * @param written end of the primary's log, in bytes
 * @param replayed end of what the replica has replayed, in bytes
 */
record ReplicaStatus(
        String replica,
        boolean visible,
        boolean synchronous,
        Optional<Duration> reportedLag,
        long written,
        long replayed) {

    /** Base backups and subscribers of logical replication are no replicas that could become the primary. */
    private static final String SELECT = """
            SELECT coalesce(nullif(r.application_name, ''), 'unnamed') || '@' || coalesce(host(r.client_addr), 'local')
                       AS replica,
                   r.state IS NOT NULL AS visible,
                   coalesce(r.sync_state IN ('sync', 'quorum'), false) AS synchronous,
                   extract(epoch FROM r.replay_lag) AS lag_seconds,
                   pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS written,
                   pg_wal_lsn_diff(coalesce(r.replay_lsn, pg_current_wal_lsn()), '0/0')::bigint AS replayed
            FROM pg_stat_replication AS r
            LEFT JOIN pg_replication_slots AS slot ON slot.active_pid = r.pid
            WHERE slot.slot_type IS DISTINCT FROM 'logical' AND r.state IS DISTINCT FROM 'backup'
            """;

    static List<ReplicaStatus> read(DataSource primary) {
        return new JdbcTemplate(primary).query(SELECT, (row, number) -> status(row));
    }

    private static ReplicaStatus status(ResultSet row) throws SQLException {
        double seconds = row.getDouble("lag_seconds");
        Optional<Duration> lag =
                row.wasNull() ? Optional.empty() : Optional.of(Duration.ofMillis(Math.round(seconds * 1_000)));
        return new ReplicaStatus(
                row.getString("replica"),
                row.getBoolean("visible"),
                row.getBoolean("synchronous"),
                lag,
                row.getLong("written"),
                row.getLong("replayed"));
    }

    /** A replica that has replayed all is not behind, however long its last commit took to get there. */
    ReplicaLag lag() {
        long behind = Math.max(0, written - replayed);
        return new ReplicaLag(replica, behind == 0 ? Duration.ZERO : reportedLag.orElse(Duration.ZERO), behind);
    }
}
