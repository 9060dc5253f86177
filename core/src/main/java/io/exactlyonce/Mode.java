package io.exactlyonce;

/** How a listener uses claims. */
public enum Mode {
    /** A handler runs only under a claim of its key. */
    ENFORCE,
    /** Handlers run as without this library; duplicates that enforcing would prevent are counted. */
    OBSERVE
}
