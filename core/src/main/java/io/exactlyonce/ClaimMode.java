package io.exactlyonce;

/** Says whether handlers wait for their claims. */
public enum ClaimMode {
    /**
     * The property {@code exactly-once.mode} decides; its default is {@link #ENFORCE}. Only annotations can have this
     * value. Properties must have one of the other values.
     */
    AS_CONFIGURED,
    /** A handler runs only if its key was claimed. */
    ENFORCE,
    /** Handlers run as without this library, and duplicates that {@link #ENFORCE} would prevent are counted. */
    OBSERVE
}
