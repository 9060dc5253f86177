package io.exactlyonce.property;

/** What becomes of names of properties within {@code exactly-once} that nothing reads. */
public enum UnknownProperties {
    /** They stop the start. */
    FAIL,
    /** They are logged: for a configuration that several versions of an application share, each of which knows other names. */
    WARN
}
