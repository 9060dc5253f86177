package io.exactlyonce;

/**
 * Policy for a message without a key, such as a test event of S3, a ping, or an order of a producer that does not send
 * keys yet. A key is missing if its expression is {@code null} or blank, if the expression reads a property of {@code
 * null}, or if it reads an entry that a map does not have. A key that is present but unusable, for example of a wrong
 * type, is refused under each policy.
 */
public enum MissingKeyPolicy {

    /** The message is returned with backoff, and ends in the dead-letter queue: every message needs its own key. */
    REFUSE,

    /**
     * The handler is called without a claim, once for each delivery: a message that SQS delivers twice is handled
     * twice, perhaps at the same time. The message's visibility timeout is renewed, the claim store is not called, and
     * the message is deleted when the handler has succeeded. Methods of {@link Claim} that need a key throw {@link
     * MissingKeyException}.
     */
    RUN_UNPROTECTED,

    /** The message is deleted, and the handler is not called. */
    SKIP
}
