package io.exactlyonce.listener.expression;

/** Makes an exception that names the listener and fails startup. */
@FunctionalInterface
public interface Refusal {

    RuntimeException of(String problem, String remedy);
}
