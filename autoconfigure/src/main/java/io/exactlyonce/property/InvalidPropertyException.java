package io.exactlyonce.property;

import io.exactlyonce.ExactlyOnceSetupException;

/** Thrown if the value of a property prevents claims, or if nothing reads a property. */
public final class InvalidPropertyException extends ExactlyOnceSetupException {

    private final String property;

    /**
     * Creates an exception.
     *
     * @param property the property's full name
     * @param problem the problem, with the value and the bound, but without secrets
     * @param remedy the fix
     */
    public InvalidPropertyException(String property, String problem, String remedy) {
        super(problem, remedy, null);
        this.property = property;
    }

    /** Returns the full name of the property. */
    public String property() {
        return property;
    }
}
