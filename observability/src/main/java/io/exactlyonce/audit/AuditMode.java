package io.exactlyonce.audit;

/** The effect of audit findings. */
public enum AuditMode {
    /**
     * A finding of severity {@link Finding.Severity#ERROR} fails the start of the listener, and therefore of the
     * application.
     */
    FAIL,
    /** Findings are logged. */
    WARN,
    /** Queues are neither read nor audited. */
    OFF
}
