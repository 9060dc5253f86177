package io.exactlyonce.audit;

/** The effect of findings. */
public enum AuditMode {
    /** A finding of severity {@link Finding.Severity#ERROR} keeps the listener, and so the application, from starting. */
    FAIL,
    /** Findings are logged. */
    WARN,
    /** Queues are neither read nor audited. */
    OFF
}
