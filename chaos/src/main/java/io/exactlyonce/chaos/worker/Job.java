package io.exactlyonce.chaos.worker;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message's content.
 *
 * @param key business key
 * @param work how long its handler works before its effect, in milliseconds
 * @param kind what becomes of it
 */
public record Job(String key, long work, Kind kind) {

    /** What becomes of a job. */
    public enum Kind {
        GOOD,
        /** Its handler throws each time, so that it ends in the dead-letter queue. */
        POISON,
        /** Its handler throws what parks the key. */
        HOPELESS,
        /** It has no key for its listener; the history has one for it. */
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
