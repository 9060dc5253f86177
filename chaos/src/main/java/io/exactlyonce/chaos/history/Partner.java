package io.exactlyonce.chaos.history;

/** What the system does that a handler calls. */
public enum Partner {

    /** There is none: all effects are in the database. */
    NONE,

    /** Acts once for each {@code downstreamKey()}, however often it is called with it. */
    HONOURS_KEY,

    /** Acts as often as it is called. */
    IGNORES_KEY
}
