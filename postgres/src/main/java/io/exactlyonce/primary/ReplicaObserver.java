package io.exactlyonce.primary;

import java.util.List;

/** Learns at intervals how far replicas are behind. */
@FunctionalInterface
public interface ReplicaObserver {

    /**
     * Called after each reading.
     *
     * @param replicas the replicas that stream now; empty if unknown
     */
    void observed(List<ReplicaLag> replicas);
}
