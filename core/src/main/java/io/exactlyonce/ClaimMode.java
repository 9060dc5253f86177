package io.exactlyonce;

/** The way in which a listener uses claims. */
public enum ClaimMode {
    /**
     * The property {@code exactly-once.mode} decides, which is {@link #ENFORCE} by default. Only for the annotation:
     * the property itself names one of the others.
     */
    AS_CONFIGURED,
    /** A handler runs only under a claim of its key. */
    ENFORCE,
    /** Handlers run as without this library, and duplicates that {@link #ENFORCE} would prevent are counted. */
    OBSERVE
}
