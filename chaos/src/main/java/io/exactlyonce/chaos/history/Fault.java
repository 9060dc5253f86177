package io.exactlyonce.chaos.history;

/** What a harness does to workers and servers. */
public enum Fault {

    /** SIGKILL of a worker. Its end is recorded when the process is gone. */
    KILL,

    /** SIGTERM of a worker. Its end is recorded when the process is gone. */
    STOP,

    /** SIGSTOP of a worker until SIGCONT, or a garbage collection that takes as long. */
    PAUSE,

    /** The database is killed or stopped, until it serves again. */
    DATABASE_RESTART,

    /** The SQS server is stopped or suspended, until it serves again. No reason for a claim to be lost. */
    SQS_RESTART,

    /** The primary stops and its replica is promoted. */
    FAILOVER,

    /** Connections between workers and the database are cut, slowed or black-holed. */
    DATABASE_PARTITION,

    /** Connections between workers and the SQS server are. No reason for a claim to be lost. */
    SQS_PARTITION,

    /** The replica lags behind. No reason for a claim to be lost. */
    REPLICA_LAG,

    /** A JVM's wall clock steps. No reason for a claim to be lost. */
    CLOCK_STEP,

    /** The database cannot write. */
    DISK_FULL,

    /** The database refuses a part of all requests, and in others a part of what they ask for. */
    THROTTLING,

    /** The database acts, and a part of its answers is lost with their connections. */
    ANSWERS_LOST,

    /** The dates of the database's answers differ, are missing or cannot be read. No reason for a claim to be lost. */
    DATE_FAULT;

    /** Returns whether a worker can lose its claims by it, so that it explains that another one takes a key over. */
    boolean costsClaims() {
        return hitsProcess() || hitsDatabase();
    }

    /** Returns whether it hits a worker's process, and is over when that runs again or is gone. */
    boolean hitsProcess() {
        return this == KILL || this == STOP || this == PAUSE;
    }

    /** Returns whether workers cannot reach the database meanwhile, and some time after: a pool must notice. */
    boolean hitsDatabase() {
        return switch (this) {
            case DATABASE_RESTART, DATABASE_PARTITION, FAILOVER, DISK_FULL, THROTTLING, ANSWERS_LOST -> true;
            case KILL, STOP, PAUSE, SQS_RESTART, SQS_PARTITION, REPLICA_LAG, CLOCK_STEP, DATE_FAULT -> false;
        };
    }
}
