package io.exactlyonce;

/** Says whether handlers wait for their claims. */
public enum ClaimMode {
    /**
     * The property {@code exactly-once.mode} decides; its default is {@link #ENFORCE}. This is the default of the
     * annotation's mode, and properties cannot have this value.
     */
    AS_CONFIGURED,
    /** A handler runs only if its key was claimed. */
    ENFORCE,
    /** Handlers run as without this library, and duplicates that {@link #ENFORCE} would prevent are counted. */
    OBSERVE
}
