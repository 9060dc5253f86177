package io.exactlyonce;

/** Whether keys are claimed before handlers run, or only beside them. */
public enum Mode {
    /** A handler runs only under a claim of its key. */
    ENFORCE,
    /** Handlers run as they would without this library; what enforcing would have prevented is counted and told. */
    OBSERVE
}
