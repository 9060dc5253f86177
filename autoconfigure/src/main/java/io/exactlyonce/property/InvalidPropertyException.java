package io.exactlyonce.property;

import io.exactlyonce.ExactlyOnceSetupException;

/** A property has a value with which keys cannot be claimed, or a name that means nothing. */
public final class InvalidPropertyException extends ExactlyOnceSetupException {

    private final String property;

    /**
     * Creates an exception.
     *
     * @param property its full name
     * @param problem the problem, with the value and the bound; no secret
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
