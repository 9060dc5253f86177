package io.exactlyonce.chaos.soak;

/**
 * The measured resources of a worker, and the growth that each may have from the second quarter of a run to the last
 * quarter.
 */
public enum Gauge {
    /** The heap in use directly after a full collection. */
    HEAP_KIB(4_096),
    /** Classes and the JVM's data about them. */
    METASPACE_KIB(2_048),
    /** Platform threads. */
    THREADS(6),
    /** Open files and sockets. */
    DESCRIPTORS(10),
    /** Connections to the database and its replica: of all HikariCP pools, or of the DynamoDB client. */
    DATABASE_CONNECTIONS(4),
    /** Connections of the SQS client. */
    SQS_CONNECTIONS(6),
    /** Connections to the partner and the harness. */
    OTHER_CONNECTIONS(6);

    private final long bound;

    Gauge(long bound) {
        this.bound = bound;
    }

    /** Returns the largest growth that still counts as flat, in the gauge's unit. */
    public long bound() {
        return bound;
    }
}
