package io.exactlyonce;

/**
 * Policy for a message without a key (for example a test event of S3, or an order of a producer without keys). A key is
 * missing in three cases:
 *
 * <ul>
 *   <li>The result of the key's SpEL expression is {@code null} or blank.
 *   <li>The expression reads a property of {@code null}.
 *   <li>The expression reads an entry that a map does not have.
 * </ul>
 *
 * <p>An unusable key (for example of a wrong type) is not missing, and is refused under each policy.
 */
public enum MissingKeyPolicy {

    /**
     * The message is returned with backoff, and ends in the dead-letter queue. Choose this policy if a message without
     * a key is a fault of its sender.
     */
    REFUSE,

    /**
     * The handler is called without a claim, once for each delivery. A message that SQS delivers twice is handled
     * twice, perhaps at the same time.
     *
     * <p>The message's visibility timeout is renewed, and the message is deleted when the handler has succeeded. The
     * claim store is not called. Methods of {@link Claim} that need a key throw {@link MissingKeyException}.
     */
    RUN_UNPROTECTED,

    /** The message is deleted, and the handler is not called. */
    SKIP
}
