package io.exactlyonce.primary;

import java.time.Duration;

/**
 * The delay of a replica behind the primary.
 *
 * @param replica the replica's {@code application_name} and address; replicas that share both are reported as one, with
 *     their largest values
 * @param lag how long the replica took to replay recent commits, as the primary measured it; zero if the replica has
 *     replayed everything
 * @param bytes the bytes of the primary's write-ahead log that the replica has not replayed
 */
public record ReplicaLag(String replica, Duration lag, long bytes) {

    /** Combines two replicas of the same name. Keeps the larger lag, and the larger number of bytes. */
    ReplicaLag or(ReplicaLag other) {
        return new ReplicaLag(replica, lag.compareTo(other.lag) > 0 ? lag : other.lag, Math.max(bytes, other.bytes));
    }
}
