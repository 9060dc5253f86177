package io.exactlyonce.sighting;

import org.jspecify.annotations.Nullable;

/** A handler under observation. */
@FunctionalInterface
public interface Observation {

    /** Of what is not observed. */
    Observation NONE = failure -> {};

    /**
     * The handler has ended. Neither throws nor waits.
     *
     * @param failure why it failed; {@code null} if it has not
     */
    void ended(@Nullable Throwable failure);
}
