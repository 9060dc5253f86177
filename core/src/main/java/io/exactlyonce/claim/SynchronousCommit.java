package io.exactlyonce.claim;

import java.util.Locale;

/**
 * What a commit of claims waits for: PostgreSQL's {@code synchronous_commit}. There is no {@code off} here. With it a server
 * that crashes forgets completions that were reported, and their effects happen again.
 */
public enum SynchronousCommit {

    /** The primary's disk, and the disks of synchronous replicas where there are any. */
    ON,
    /** As {@link #ON}, and until synchronous replicas show it to their readers. */
    REMOTE_APPLY,
    /** The primary's disk, and the memory of synchronous replicas. */
    REMOTE_WRITE,
    /** The primary's disk alone: a failover to any replica may forget claims. */
    LOCAL;

    /** Returns PostgreSQL's name for it. */
    public String setting() {
        return name().toLowerCase(Locale.ROOT);
    }
}
