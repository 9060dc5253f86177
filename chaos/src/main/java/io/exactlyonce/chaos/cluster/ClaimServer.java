package io.exactlyonce.chaos.cluster;

import java.io.IOException;
import java.util.List;

/** Where a run keeps its claims, and the rows or items that handlers write together with a completion. */
public interface ClaimServer extends AutoCloseable {

    /** Returns the port that workers' wires lead to at the moment. */
    int port();

    /** Returns the port of what may be behind, at the moment; the same if nothing is. */
    int replicaPort();

    /**
     * Returns what workers are told of it.
     *
     * @param port of their wire to it
     * @param replicaPort of their wire to what may be behind
     */
    List<String> workerArguments(int port, int replicaPort);

    @Override
    void close() throws IOException;

    /** Returns all claims that are left. */
    List<ClaimLeft> claims();

    /** Returns how many follow-up messages are in the outbox; 0 without one. */
    default int unsent() {
        return 0;
    }

    /** Returns all rows or items that handlers wrote. */
    List<Booking> bookings();

    /**
     * A claim after the run.
     *
     * @param reason its error, never blank
     */
    record ClaimLeft(String key, String status, String reason) {}

    /** What the handler of a key wrote in one of its calls. */
    record Booking(String key, String call) {}
}
