package io.exactlyonce.sample.lab;

import org.jspecify.annotations.Nullable;

/** The lab could not run the experiment, so there is no result. */
public final class LabException extends RuntimeException {

    /** @param message the problem and the remedy */
    public LabException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
