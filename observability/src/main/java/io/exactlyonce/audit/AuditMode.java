package io.exactlyonce.audit;

/** The effect of audit findings. */
public enum AuditMode {
    /**
     * A listener does not start if its queue has a finding of severity {@link Finding.Severity#ERROR}. Then the
     * application does not start, either.
     */
    FAIL,
    /** Findings are logged. */
    WARN,
    /** Queues are neither read nor audited. */
    OFF
}
