package io.exactlyonce.observed;

import java.util.Locale;

/** Why nothing, or not all, is known of a delivery whose handler ran. */
public enum NotObserved {
    /** The message has no usable key. Enforcing would have returned it. */
    KEY("has no usable key; enforcing would return it, and let it end in the dead-letter queue"),
    /** A header that Spring Cloud AWS sets is missing or replaced. */
    MESSAGE("does not carry what SQS said of it: an interceptor, a converter or its sender replaced headers"),
    /** The claim got no answer. */
    STORE("got no answer from the claims' database"),
    /** The claim was answered, but the handler's outcome is not on record: the key's next handler counts as a takeover. */
    OUTCOME("is observed, but how its handler ended could not be recorded"),
    /** Too many observations were under way. */
    OVERLOAD("came while as many observations were under way as there may be");

    private final String story;

    NotObserved(String story) {
        this.story = story;
    }

    /** Returns its name for meters and the endpoint. */
    public String tag() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns why, as the rest of a sentence about a delivery. */
    String story() {
        return story;
    }
}
