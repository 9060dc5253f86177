package io.exactlyonce.sample.lab;

import org.jspecify.annotations.Nullable;

/** The experiment could not be carried out, which says nothing about its subject. */
public final class LabException extends RuntimeException {

    /** @param message what is wrong, and what to do about it */
    public LabException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
