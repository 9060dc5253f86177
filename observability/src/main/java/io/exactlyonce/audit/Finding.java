package io.exactlyonce.audit;

/**
 * The result of one rule.
 *
 * @param rule the rule's id
 * @param found the value that the rule found, or why the value is unknown
 * @param bound the required value
 * @param remedy the fix
 */
public record Finding(String rule, Severity severity, String found, String bound, String remedy) {

    /** The severity of a finding. */
    public enum Severity {
        /** Effects can happen twice, or messages can be lost unnoticed. With {@link AuditMode#FAIL}, startup fails. */
        ERROR,
        /** One safeguard is missing. Effects happen twice, or messages are lost, only if a second fault occurs. */
        WARNING,
        /** A fact that needs no action. */
        NOTE,
        /** An input of the rule could not be read. */
        UNKNOWN
    }
}
