package io.exactlyonce.audit;

/** The effect of findings. */
public enum AuditMode {
    /** A finding of severity {@link Finding.Severity#ERROR} fails the start of the listener, and so of the application. */
    FAIL,
    /** Findings are logged. */
    WARN,
    /** Queues are neither read nor audited. */
    OFF
}
