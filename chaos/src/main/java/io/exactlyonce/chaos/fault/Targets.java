package io.exactlyonce.chaos.fault;

import io.exactlyonce.chaos.cluster.ClaimServer;
import io.exactlyonce.chaos.cluster.FaultLog;
import io.exactlyonce.chaos.cluster.ReplicatedPostgres;
import io.exactlyonce.chaos.cluster.SqsServer;
import io.exactlyonce.chaos.dynamodb.DynamoDbService;
import io.exactlyonce.chaos.fleet.Fleet;
import io.exactlyonce.chaos.fleet.Slot;

/** The targets of faults. */
public record Targets(Fleet fleet, ClaimServer claims, SqsServer sqs, KillPoints points, FaultLog log) {

    ReplicatedPostgres database() {
        return of(ReplicatedPostgres.class);
    }

    DynamoDbService dynamoDb() {
        return of(DynamoDbService.class);
    }

    /** Returns the claim server. A schedule has no faults of servers that are not part of its run. */
    private <T extends ClaimServer> T of(Class<T> type) {
        return type.cast(claims);
    }

    Slot slot(int number) {
        return fleet.slots().get(number % fleet.slots().size());
    }
}
