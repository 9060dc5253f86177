package io.exactlyonce;

/**
 * Policy for a message without a key, such as a test event of S3, a ping, or an order of a producer that does not send keys yet. A
 * key is missing if its expression is {@code null} or blank, or reads a part of something that is {@code null}, or a map's entry
 * that does not exist. A key that is there and unusable, for example of a wrong type, is refused with each policy.
 */
public enum MissingKeyPolicy {

    /** The message is returned with backoff, and ends in the dead-letter queue: every message needs its own key. */
    REFUSE,

    /**
     * The handler is called without a claim, once for each delivery: a message that SQS delivers twice is handled twice, perhaps at
     * the same time. The message's visibility timeout is renewed, the claim store is not called, and the message is deleted when the
     * handler has succeeded. Methods of {@link Claim} that need a key throw {@link MissingKeyException}.
     */
    RUN_UNPROTECTED,

    /** The message is deleted, and the handler is not called. */
    SKIP
}
