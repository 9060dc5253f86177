package io.exactlyonce.audit;

/** How bad a finding is. */
public enum Severity {
    /** Effects can happen twice, or messages be lost from sight. With {@link AuditMode#FAIL} it stops the start. */
    ERROR,
    /** One safety is missing: it takes a further mishap. */
    WARNING,
    /** To be known. */
    NOTE,
    /** What the rule needs could not be read: neither fine nor wrong. */
    UNKNOWN
}
