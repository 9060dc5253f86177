package io.exactlyonce.audit;

/**
 * A problem that the audit found, or a value that it could not read.
 *
 * @param rule the rule's id, for example {@code redrive-policy}
 * @param found the problem, or why the value could not be read
 * @param bound what the rule requires
 * @param remedy how to fix the problem
 */
public record Finding(String rule, Severity severity, String found, String bound, String remedy) {

    /** The severity of a finding. */
    public enum Severity {
        /**
         * This problem alone is enough to repeat effects, or to lose messages unnoticed. With {@link AuditMode#FAIL},
         * the application does not start.
         */
        ERROR,
        /** This problem repeats effects or loses messages only if a second problem occurs. */
        WARNING,
        /** A fact that needs no action. */
        NOTE,
        /** A value could not be read, so the rule could not be checked. */
        UNKNOWN
    }
}
