package io.exactlyonce.benchmarks.process;

import java.util.Locale;

/** The role of a process of the benchmarks. */
public enum Role {
    /** Serves queues. */
    SQS,
    /** Listens to a queue, like an application. */
    WORKER;

    /** Returns the argument on the command line. */
    public String argument() {
        return "--" + name().toLowerCase(Locale.ROOT);
    }
}
