package io.exactlyonce.primary;

import java.util.List;

/** Learns at intervals how far replicas are behind. */
@FunctionalInterface
public interface ReplicaObserver {

    /**
     * Called after each look.
     *
     * @param replicas the ones that stream at this moment; none if that is not known
     */
    void observed(List<ReplicaLag> replicas);
}
