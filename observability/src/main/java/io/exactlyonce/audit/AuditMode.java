package io.exactlyonce.audit;

/** What becomes of findings. */
public enum AuditMode {
    /** A finding of severity {@link Finding.Severity#ERROR} keeps the listener, and so the application, from starting. */
    FAIL,
    /** Findings are logged. */
    WARN,
    /** Nothing is read, and nothing is told. */
    OFF
}
