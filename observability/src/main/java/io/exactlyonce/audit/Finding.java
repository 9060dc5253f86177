package io.exactlyonce.audit;

/**
 * What a rule has found.
 *
 * @param rule the rule's id
 * @param found the value, or why it is not known
 * @param bound what it should be
 * @param remedy what to do
 */
public record Finding(String rule, Severity severity, String found, String bound, String remedy) {

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
}
