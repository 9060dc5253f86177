package io.exactlyonce.primary;

import java.time.Duration;

/**
 * The lag of a replica behind the primary.
 *
 * @param replica the replica's {@code application_name} and address; if replicas share both, the slowest counts
 * @param lag age of the primary's newest commit that the replica has not replayed; zero if it has replayed all commits
 * @param bytes bytes of the primary's write-ahead log that the replica has not replayed
 */
public record ReplicaLag(String replica, Duration lag, long bytes) {

    /** Returns the larger lag and the larger number of bytes of the two. */
    ReplicaLag or(ReplicaLag other) {
        return new ReplicaLag(replica, lag.compareTo(other.lag) > 0 ? lag : other.lag, Math.max(bytes, other.bytes));
    }
}
