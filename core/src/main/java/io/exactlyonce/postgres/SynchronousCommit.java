package io.exactlyonce.postgres;

import java.util.Locale;

/**
 * The setting {@code synchronous_commit} of PostgreSQL for claims: for which servers a commit waits. The value
 * {@code off} is not supported, because a server that crashes would forget completions that it had confirmed, and their
 * effects would happen again.
 */
public enum SynchronousCommit {

    /** Waits for the primary's disk, and for the disks of synchronous replicas, if there are any. */
    ON,
    /** Waits as {@link #ON} does, and also until queries on the synchronous replicas return the commit. */
    REMOTE_APPLY,
    /** Waits for the primary's disk, and for the memory of synchronous replicas, but not for their disks. */
    REMOTE_WRITE,
    /** Waits for the primary's disk, and for no replica, so a failover to any replica may forget claims. */
    LOCAL;

    /** Returns PostgreSQL's name of this setting. */
    public String setting() {
        return name().toLowerCase(Locale.ROOT);
    }
}
