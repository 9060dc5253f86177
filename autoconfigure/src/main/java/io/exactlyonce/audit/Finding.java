package io.exactlyonce.audit;

/**
 * What a rule has found.
 *
 * @param rule the rule's id
 * @param found the value, or why it is not known
 * @param bound what it should be
 * @param remedy what to do
 */
public record Finding(String rule, Severity severity, String found, String bound, String remedy) {}
