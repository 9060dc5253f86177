package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.cluster.FaultLog;
import io.exactlyonce.chaos.cluster.ReplicatedPostgres;
import io.exactlyonce.chaos.cluster.SqsServer;
import io.exactlyonce.chaos.fleet.Fleet;
import io.exactlyonce.chaos.fleet.Slot;

/** What can be broken. */
public record Targets(Fleet fleet, ReplicatedPostgres database, SqsServer sqs, KillPoints points, FaultLog log) {

    Slot slot(int number) {
        return fleet.slots().get(number % fleet.slots().size());
    }
}
