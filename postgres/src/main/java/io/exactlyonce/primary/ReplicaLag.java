package io.exactlyonce.primary;

import java.time.Duration;

/**
 * The lag of a replica behind the primary.
 *
 * @param replica the replica's {@code application_name} and address; replicas that share both are reported as one,
 *     with their largest values
 * @param lag the delay with which the replica replayed recent commits, as the primary measured it; zero if the
 *     replica has replayed everything
 * @param bytes the bytes of the primary's write-ahead log that the replica has not replayed
 */
public record ReplicaLag(String replica, Duration lag, long bytes) {

    /** Returns the larger lag and the larger number of bytes of two replicas. */
    ReplicaLag or(ReplicaLag other) {
        return new ReplicaLag(replica, lag.compareTo(other.lag) > 0 ? lag : other.lag, Math.max(bytes, other.bytes));
    }
}
