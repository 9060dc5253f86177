package io.exactlyonce.chaos.history;

/** Faults that a harness makes at workers and servers. */
public enum Fault {

    /** SIGKILL of a worker. The end of the fault is recorded when the process is gone. */
    KILL,

    /** SIGTERM of a worker. The end of the fault is recorded when the process is gone. */
    STOP,

    /** SIGSTOP of a worker until SIGCONT, or a garbage collection of the same length. */
    PAUSE,

    /** The database is killed or stopped, until it serves again. */
    DATABASE_RESTART,

    /** The SQS server is stopped or suspended, until it serves again. This does not explain the loss of a claim. */
    SQS_RESTART,

    /** The primary stops and its replica is promoted. */
    FAILOVER,

    /** Connections between workers and the database are cut, slowed or black-holed. */
    DATABASE_PARTITION,

    /**
     * Connections between workers and the SQS server are cut, slowed or black-holed. This does not explain the loss of
     * a claim.
     */
    SQS_PARTITION,

    /** The replica lags behind. This does not explain the loss of a claim. */
    REPLICA_LAG,

    /** A JVM's wall clock steps. This does not explain the loss of a claim. */
    CLOCK_STEP,

    /** The database cannot write. */
    DISK_FULL,

    /** The database refuses some requests, and parts of other requests. */
    THROTTLING,

    /** The database executes requests, and some answers are lost with their connections. */
    ANSWERS_LOST,

    /**
     * The dates of the database's answers differ, are missing or cannot be read. This does not explain the loss of a
     * claim.
     */
    DATE_FAULT;

    /** Returns whether a worker can lose its claims by this fault, so that it explains a takeover. */
    boolean costsClaims() {
        return hitsProcess() || hitsDatabase();
    }

    /**
     * Returns whether this fault hits a worker's process. Such a fault is over when the process runs again or is gone.
     */
    boolean hitsProcess() {
        return this == KILL || this == STOP || this == PAUSE;
    }

    /**
     * Returns whether workers cannot reach the database during this fault, and for some time after, because a pool must
     * detect the end.
     */
    boolean hitsDatabase() {
        return switch (this) {
            case DATABASE_RESTART, DATABASE_PARTITION, FAILOVER, DISK_FULL, THROTTLING, ANSWERS_LOST -> true;
            case KILL, STOP, PAUSE, SQS_RESTART, SQS_PARTITION, REPLICA_LAG, CLOCK_STEP, DATE_FAULT -> false;
        };
    }
}
