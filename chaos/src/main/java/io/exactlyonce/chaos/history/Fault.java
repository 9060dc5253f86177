package io.exactlyonce.chaos.history;

/** What a harness does to workers and servers. */
public enum Fault {

    /** SIGKILL of a worker. Its end is recorded when the process is gone. */
    KILL,

    /** SIGTERM of a worker. Its end is recorded when the process is gone. */
    STOP,

    /** SIGSTOP of a worker until SIGCONT, or a garbage collection that takes as long. */
    PAUSE,

    /** The database or the SQS server is killed, stopped or suspended, until it serves again. */
    RESTART,

    /** The primary stops and its replica is promoted. */
    FAILOVER,

    /** Connections between workers and a server are cut, slowed or black-holed. */
    PARTITION,

    /** The replica lags behind. */
    REPLICA_LAG,

    /** A JVM's wall clock steps. */
    CLOCK_STEP,

    /** The database cannot write. */
    DISK_FULL
}
