package io.exactlyonce.postgres;

import java.util.Locale;

/**
 * PostgreSQL's setting {@code synchronous_commit}: what a commit of claims waits for, such as the primary's disk. The
 * value {@code off} is not supported. After a crash, the server would forget completions that it had confirmed, and
 * handlers would run again.
 */
public enum SynchronousCommit {

    /** Waits for the primary's disk, and for the disks of synchronous replicas, if there are any. */
    ON,
    /** Waits as {@link #ON} does, and also until the synchronous replicas show the commit to queries. */
    REMOTE_APPLY,
    /** Waits for the primary's disk, and until synchronous replicas have the commit in memory, but not on disk. */
    REMOTE_WRITE,
    /** Waits only for the primary's disk. A failover to a replica may forget claims. */
    LOCAL;

    /** Returns PostgreSQL's name of this setting. */
    public String setting() {
        return name().toLowerCase(Locale.ROOT);
    }
}
