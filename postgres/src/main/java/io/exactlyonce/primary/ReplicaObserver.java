package io.exactlyonce.primary;

import java.util.List;

/** Receives the lag of replicas at intervals. */
@FunctionalInterface
public interface ReplicaObserver {

    /**
     * Called after each reading.
     *
     * @param replicas the replicas that stream now; empty if unknown
     */
    void observed(List<ReplicaLag> replicas);
}
