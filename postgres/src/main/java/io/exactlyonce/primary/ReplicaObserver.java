package io.exactlyonce.primary;

import java.util.List;

/** Observes the lag of replicas, which is read at intervals. */
@FunctionalInterface
public interface ReplicaObserver {

    /**
     * Called after each reading.
     *
     * @param replicas the replicas that are connected now; empty if they could not be read
     */
    void observed(List<ReplicaLag> replicas);
}
