package io.exactlyonce.observed;

import io.exactlyonce.MissingKeyPolicy;
import java.util.Locale;

/**
 * The reason why a handler in observe mode was not observed, or why its end was not recorded. The handler was called in
 * any case.
 */
public enum NotObserved {
    /** The message has no usable key. In enforce mode, the message would be returned. */
    KEY("has no usable key; enforcing would return it, and let it end in the dead-letter queue"),
    /**
     * The library cannot read the original SQS message, because a header that Spring Cloud AWS sets is missing or was
     * replaced.
     */
    MESSAGE("lacks its SQS headers: an interceptor, a converter or its sender replaced them"),
    /** The claim store did not answer the request for a claim. */
    STORE("got no answer from the claim store"),
    /**
     * The handler's outcome could not be recorded. So the key's next delivery may count as a takeover, as if this
     * handler had never ended.
     */
    OUTCOME("is observed, but its handler's outcome could not be recorded"),
    /** Too many handlers were being observed when this one started. */
    OVERLOAD("arrived while the maximum number of observations was pending"),
    /**
     * The message has no key. In enforce mode, the message would be deleted, because the listener's policy is {@link
     * MissingKeyPolicy#SKIP}.
     */
    SKIPPED("has no key; enforcing would delete it, because whenKeyMissing is SKIP"),
    /** The message has no key. In enforce mode, its handler would be called without a claim. */
    UNPROTECTED("has no key; enforcing would handle it without a claim, because whenKeyMissing is RUN_UNPROTECTED");

    private final String story;

    NotObserved(String story) {
        this.story = story;
    }

    /**
     * Returns why a delivery of a message without a key is not observed. The reason depends on the listener's policy
     * for missing keys.
     */
    public static NotObserved of(MissingKeyPolicy policy) {
        return switch (policy) {
            case REFUSE -> KEY;
            case SKIP -> SKIPPED;
            case RUN_UNPROTECTED -> UNPROTECTED;
        };
    }

    /** Returns the reason's name for meters and the endpoint. */
    public String tag() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the words that follow {@code A message of LISTENER} in the log. */
    String story() {
        return story;
    }
}
