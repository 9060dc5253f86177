package io.exactlyonce.listener.expression;

/** Makes the exception that fails startup, and names the listener in it. */
@FunctionalInterface
public interface Refusal {

    RuntimeException of(String problem, String remedy);
}
