package io.exactlyonce.chaos.worker;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The content of a message.
 *
 * @param key the business key
 * @param work how long the handler works before its effect, in milliseconds
 * @param kind the outcome of the job
 */
public record Job(String key, long work, Kind kind) {

    /** The outcome of a job. */
    public enum Kind {
        GOOD,
        /** The handler always throws, so the message ends in the dead-letter queue. */
        POISON,
        /** The handler throws an exception that parks the key. */
        HOPELESS,
        /** The message has no key for its listener. The history has a key for it. */
        KEYLESS
    }

    public Job {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(kind, "kind");
    }

    /** Returns the key that a listener with {@code whenKeyMissing} claims; {@code null} if the message has none. */
    public @Nullable String claimKey() {
        return kind == Kind.KEYLESS ? null : key;
    }
}
