package io.exactlyonce.sample.lab;

import org.jspecify.annotations.Nullable;

/** The experiment could not be carried out, which says nothing about its subject. */
public final class LabException extends RuntimeException {

    LabException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
