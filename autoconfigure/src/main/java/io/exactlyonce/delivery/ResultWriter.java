package io.exactlyonce.delivery;

/** Turns handlers' results into JSON. */
@FunctionalInterface
public interface ResultWriter {

    /**
     * Writes a result.
     *
     * @throws RuntimeException if the result cannot be written
     */
    String toJson(Object result);
}
