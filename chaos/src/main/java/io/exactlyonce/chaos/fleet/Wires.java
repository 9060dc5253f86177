package io.exactlyonce.chaos.fleet;

import io.exactlyonce.chaos.cluster.TcpProxy;
import io.exactlyonce.chaos.cluster.Traffic;
import io.exactlyonce.chaos.history.Fault;
import java.io.IOException;
import java.util.List;

/** One worker's wires to the servers, which can be broken for this worker alone. */
public record Wires(TcpProxy database, TcpProxy replica, TcpProxy sqs) implements AutoCloseable {

    /** The servers from which a partition separates a worker. */
    public enum Side {
        DATABASE,
        SQS,
        BOTH;

        List<Fault> faults() {
            return switch (this) {
                case DATABASE -> List.of(Fault.DATABASE_PARTITION);
                case SQS -> List.of(Fault.SQS_PARTITION);
                case BOTH -> List.of(Fault.DATABASE_PARTITION, Fault.SQS_PARTITION);
            };
        }
    }

    static Wires lay(Launch launch) throws IOException {
        return new Wires(
                TcpProxy.start("database-wire", launch.claims()::port),
                TcpProxy.start("replica-wire", launch.claims()::replicaPort),
                TcpProxy.start("sqs-wire", launch.addresses()::sqs));
    }

    /** Changes the treatment of traffic on one side or both. */
    public void set(Side side, Traffic traffic) {
        if (side != Side.SQS) {
            database.set(traffic);
        }
        if (side != Side.DATABASE) {
            sqs.set(traffic);
        }
    }

    /** Breaks the connections to servers that have moved. */
    public void reset() {
        database.reset();
        replica.reset();
    }

    @Override
    public void close() throws IOException {
        for (TcpProxy wire : List.of(database, replica, sqs)) {
            wire.close();
        }
    }
}
