package io.exactlyonce.property;

import io.exactlyonce.ExactlyOnceSetupException;

/** A property has a value with which keys cannot be claimed, or a name that means nothing. */
public final class InvalidPropertyException extends ExactlyOnceSetupException {

    private final String property;

    /**
     * Makes an exception.
     *
     * @param property its full name
     * @param problem what is wrong, with the value and the bound; no secret
     * @param remedy what to do about it
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
