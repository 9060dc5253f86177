package io.exactlyonce.primary;

import java.time.Duration;

/**
 * How far a replica is behind the primary.
 *
 * @param replica its {@code application_name} and address; replicas that share both count as one, the slowest
 * @param lag how old the primary's newest commit is that the replica does not show yet; zero if it shows all
 * @param bytes how much of the primary's write-ahead log it has not replayed yet
 */
public record ReplicaLag(String replica, Duration lag, long bytes) {

    /** Returns the worse of two. */
    ReplicaLag or(ReplicaLag other) {
        return new ReplicaLag(replica, lag.compareTo(other.lag) > 0 ? lag : other.lag, Math.max(bytes, other.bytes));
    }
}
