package io.exactlyonce.property;

import io.exactlyonce.ExactlyOnceSetupException;

/** Thrown if a property has a value that the library cannot use, or if the library has no property of this name. */
public final class InvalidPropertyException extends ExactlyOnceSetupException {

    private final String property;

    /**
     * Creates an exception.
     *
     * @param property the property's full name
     * @param problem what is wrong, without secrets
     * @param remedy how to correct it
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
