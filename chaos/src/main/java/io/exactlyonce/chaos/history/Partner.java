package io.exactlyonce.chaos.history;

/** The behavior of the system that a handler calls. */
public enum Partner {

    /** The handler calls no system. All effects are in the database. */
    NONE,

    /** The partner acts once for each {@code downstreamKey()}, however often it is called with this key. */
    HONOURS_KEY,

    /** The partner acts at each call. */
    IGNORES_KEY
}
