package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.util.List;

/** The server that keeps a run's claims, and the rows or items that handlers write together with a completion. */
public interface ClaimServer extends AutoCloseable {

    /** Returns the current port of the server, to which workers' wires connect. */
    int port();

    /** Returns the current port of the replica, which may lag; the same as {@link #port} if there is none. */
    int replicaPort();

    /**
     * Returns a worker's arguments for this server.
     *
     * @param port port of the worker's wire to the server
     * @param replicaPort port of the worker's wire to the replica
     */
    List<String> workerArguments(int port, int replicaPort);

    @Override
    void close() throws IOException;

    /** Returns all remaining claims. */
    List<ClaimLeft> claims();

    /** Returns the number of follow-up messages in the outbox; 0 without an outbox. */
    default int unsent() {
        return 0;
    }

    /** Returns all rows or items that handlers wrote. */
    List<Booking> bookings();

    /**
     * A claim after the run.
     *
     * @param reason the claim's error, never blank
     */
    record ClaimLeft(String key, String status, String reason) {}

    /** A row that a call of a handler wrote. */
    record Booking(String key, String call) {}
}
