package io.exactlyonce.primary.replica;

import io.exactlyonce.primary.SynchronousCommit;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs what replicas mean for claims: once, and again when it changes. */
final class ReplicaWarnings {

    private static final Logger log = LoggerFactory.getLogger(ReplicaWarnings.class);

    private final SynchronousCommit synchronousCommit;
    private boolean mayForgetClaims;
    private boolean blind;
    private boolean failing;

    ReplicaWarnings(SynchronousCommit synchronousCommit) {
        this.synchronousCommit = synchronousCommit;
    }

    void unreadable(RuntimeException failure) {
        if (!failing) {
            failing = true;
            log.warn("Replica lag cannot be read; it is not reported until it can", failure);
        }
    }

    void read(List<ReplicaStatus> all) {
        failing = false;
        boolean nowBlind = all.stream().anyMatch(status -> !status.visible());
        if (nowBlind && !blind) {
            log.warn("Neither replica lag nor whether replicas are synchronous can be seen: this database user lacks"
                    + " rights on other sessions' rows of pg_stat_replication; as a superuser: GRANT pg_monitor TO"
                    + " <user> (pg_read_all_stats is enough)");
        }
        blind = nowBlind;
        if (!nowBlind) {
            judge(all);
        }
    }

    private void judge(List<ReplicaStatus> all) {
        boolean waits =
                synchronousCommit != SynchronousCommit.LOCAL && all.stream().anyMatch(ReplicaStatus::synchronous);
        boolean mayForget = !all.isEmpty() && !waits;
        if (mayForget == mayForgetClaims) {
            return;
        }
        mayForgetClaims = mayForget;
        if (!mayForget) {
            log.info("Commits of claims wait for a synchronous replica again, or there is no replica any more");
            return;
        }
        log.warn(
                "A failover may forget claims, and effects outside of this database may then happen again: commits wait"
                        + " for none of the replicas {} (exactly-once.claim.synchronous-commit is {}). Name synchronous"
                        + " ones in the primary's synchronous_standby_names, such as 'ANY 1 (*)', and set"
                        + " synchronous-commit to on or remote_apply",
                all.stream().map(ReplicaStatus::replica).distinct().collect(Collectors.joining(", ")),
                synchronousCommit.setting());
    }
}
