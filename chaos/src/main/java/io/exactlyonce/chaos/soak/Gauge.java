package io.exactlyonce.chaos.soak;

/** What is measured of a worker, and by how much it may grow from the second quarter of a run to the last one. */
public enum Gauge {
    /** Heap in use right after a full collection. */
    HEAP_KIB(4_096),
    /** Classes and what the JVM knows of them. */
    METASPACE_KIB(2_048),
    /** Platform threads. */
    THREADS(6),
    /** Open files and sockets. */
    DESCRIPTORS(10),
    /** To the database and its replica: of all HikariCP pools, or of the DynamoDB client. */
    DATABASE_CONNECTIONS(4),
    /** Of the SQS client. */
    SQS_CONNECTIONS(6),
    /** To the partner and the harness. */
    OTHER_CONNECTIONS(6);

    private final long bound;

    Gauge(long bound) {
        this.bound = bound;
    }

    /** Returns the most growth that is still called flat, in the gauge's unit. */
    public long bound() {
        return bound;
    }
}
