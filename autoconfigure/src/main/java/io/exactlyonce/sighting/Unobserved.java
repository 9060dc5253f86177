package io.exactlyonce.sighting;

/** Why nothing, or not all, is known of a delivery whose handler ran. */
public enum Unobserved {
    /** The message has no usable key. Enforcing would have returned it. */
    KEY("key", "has no usable key; enforcing would return it, and let it end in the dead-letter queue"),
    /** A header that awspring sets is missing or replaced. */
    MESSAGE(
            "message",
            "does not carry what SQS said of it: an interceptor, a converter or its sender replaced headers"),
    /** The claim got no answer. */
    STORE("store", "got no answer from the claims' database"),
    /** The claim was answered, but how the handler ended is not on record: the key's next handler counts as a takeover. */
    OUTCOME("outcome", "is observed, but how its handler ended could not be recorded"),
    /** Too many observations were under way. */
    OVERLOAD("overload", "came while as many observations were under way as there may be");

    private final String tag;
    private final String story;

    Unobserved(String tag, String story) {
        this.tag = tag;
        this.story = story;
    }

    /** Returns its name for meters and the endpoint. */
    public String tag() {
        return tag;
    }

    /** Returns why, as the rest of a sentence about a delivery. */
    String story() {
        return story;
    }
}
