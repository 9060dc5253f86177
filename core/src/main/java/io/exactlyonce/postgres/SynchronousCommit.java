package io.exactlyonce.postgres;

import java.util.Locale;

/**
 * PostgreSQL's {@code synchronous_commit} for claims. {@code off} is not supported: a server that crashes would forget
 * completions that it had reported, and their effects would happen again.
 */
public enum SynchronousCommit {

    /** Waits for the primary's disk, and the disks of synchronous replicas, if any. */
    ON,
    /** Waits as {@link #ON} does, and until synchronous replicas show the commit to their readers. */
    REMOTE_APPLY,
    /** Waits for the primary's disk, and the memory of synchronous replicas. */
    REMOTE_WRITE,
    /** Waits only for the primary's disk: a failover to any replica may forget claims. */
    LOCAL;

    /** Returns PostgreSQL's name of this setting. */
    public String setting() {
        return name().toLowerCase(Locale.ROOT);
    }
}
