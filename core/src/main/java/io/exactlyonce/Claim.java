package io.exactlyonce;

/**
 * A handler's claim on its idempotency key. A method with {@link ExactlyOnceListener} gets its claim if it declares a
 * parameter of this type, or a {@code List<Claim>} for a batch. An action of {@link ExactlyOnceOperations} always gets
 * its claim. Use a claim only while the handler or action runs. Thread-safe.
 *
 * <p>In two cases a handler runs without a claim, and gets a substitute: with {@link ClaimMode#OBSERVE}, and for a
 * message without a key under {@link MissingKeyPolicy#RUN_UNPROTECTED}. The substitute behaves as follows:
 *
 * <ul>
 *   <li>{@link #attempt()} returns the message's receive count, and {@link #isInDoubt()} returns false.
 *   <li>{@link #ensureHeld()} does nothing, and {@link #followUp} does not check the claim.
 *   <li>{@link #fence()} and {@link #fencingToken()} throw {@link IllegalStateException}.
 *   <li>If the message has no usable key, {@link #scope()}, {@link #key()}, {@link #keyHash()}, {@link
 *       #downstreamKey()} and {@link #followUp} throw {@link UnusableKeyException}.
 * </ul>
 */
public interface Claim {

    /**
     * Returns the key's namespace: the scope of the listener, or the scope given to {@link ExactlyOnceOperations#once}.
     *
     * @throws UnusableKeyException if nothing is claimed, and the message has no usable key
     */
    String scope();

    /**
     * Returns the idempotency key as it is stored. A key longer than 512 characters is stored as its SHA-256.
     *
     * @throws UnusableKeyException if nothing is claimed, and the message has no usable key
     */
    String key();

    /**
     * Returns the first 16 digits of {@link #downstreamKey()}. Log lines, events, exceptions and the endpoint name the
     * key by this hash, because the key itself may be personal data.
     *
     * @throws UnusableKeyException if nothing is claimed, and the message has no usable key
     */
    String keyHash();

    /**
     * Returns the number of this attempt at the key, from 1. With {@link Effects#DATABASE}, attempts whose transaction
     * was rolled back are not counted.
     */
    int attempt();

    /**
     * Returns whether an earlier attempt at this key may have had effects that were never recorded. Such an attempt
     * ended without an outcome: its process died, its claim was lost, its timeout expired, or its listener was stopped.
     * An attempt that threw an exception of its own does not count.
     *
     * <p>With {@link Effects#DATABASE}, a crash rolls the effects back. The method then returns true only if an earlier
     * attempt ran with {@link Effects#EXTERNAL}.
     */
    boolean isInDoubt();

    /**
     * Returns a number that grows with each claim of this key. A system that remembers the greatest number can reject
     * late writes of earlier claims.
     *
     * @throws IllegalStateException if nothing is claimed: the listener only observes, or the message has no key
     */
    long fencingToken();

    /**
     * Returns an idempotency key for the systems that the handler calls, as 64 hexadecimal digits. All attempts at this
     * claim's key return the same digits. Any other key or scope has other digits.
     *
     * @throws UnusableKeyException if nothing is claimed, and the message has no usable key
     */
    String downstreamKey();

    /**
     * Returns an idempotency key for one call that the handler makes, or one message that it sends. Use this method if
     * the handler makes several calls or sends several messages, with a different name for each. All attempts at this
     * claim's key return the same digits for the same name: the SHA-256 of scope, NUL, key, NUL and name, as 64
     * hexadecimal digits.
     *
     * @param call a name for the call or message, such as {@code "refund"}; 1 to 512 characters
     * @throws IllegalArgumentException if the name is blank, is longer than 512 characters, or contains a NUL character
     *     or half of a surrogate pair
     * @throws UnusableKeyException if nothing is claimed, and the message has no usable key
     */
    String downstreamKey(String call);

    /**
     * Returns an identity for a message that the handler sends. The handler, an outbox or SQS may send this message
     * twice. A receiving {@link ExactlyOnceListener} without a {@code key} of its own recognizes the identity, and
     * handles the message only once.
     *
     * <p>Call this method while the handler runs. If an outbox sends the message later, store the identity with the
     * outbox's event.
     *
     * @param name a name for the message, such as {@code "shipped"}; 1 to 512 characters. Each message of the handler
     *     needs a different name
     * @throws IllegalArgumentException if the name is blank, is longer than 512 characters, or contains a NUL character
     *     or half of a surrogate pair
     * @throws UnusableKeyException if nothing is claimed, and the message has no usable key
     * @throws ClaimLostException if another worker may own the key, or the handler has ended
     */
    default FollowUp followUp(String name) {
        FollowUp followUp = new FollowUp(downstreamKey(name));
        ensureHeld();
        return followUp;
    }

    /**
     * Throws an exception if another worker may own the key. Call this method right before each effect.
     *
     * <p>The check compares the lease with this JVM's monotonic clock, and does no I/O. If the process pauses between
     * the check and the effect, the lease can expire unnoticed. With {@link Effects#DATABASE} there is no lease, so the
     * check throws only after the handler has ended or the listener has stopped.
     *
     * @throws ClaimLostException if another worker may own the key, the listener has stopped, or the handler has ended
     */
    void ensureHeld();

    /**
     * Binds the current transaction to this claim, so that a worker that has lost its claim cannot commit. The call
     * checks in the database that this claim still owns the key. No other worker can take the key over until the
     * transaction ends.
     *
     * <p>Call this method inside a Spring transaction on the database that stores the claims, before or after your
     * writes. The call costs one statement. The claim can still be renewed and completed while the transaction is open.
     *
     * <p>A crash can still happen after the commit and before the claim is completed. The next attempt then sees
     * {@link #isInDoubt()}. {@link Effects#DATABASE} avoids this case, because one transaction commits the writes and
     * the completion.
     *
     * @throws ClaimLostException if this claim no longer owns the key. The transaction must be rolled back, as Spring
     *     does for this exception
     * @throws IllegalStateException if no transaction on the database of the claims is open, or if nothing is claimed:
     *     the listener only observes, or the message has no key
     * @throws ClaimStoreException if the database does not answer. The transaction must be rolled back
     * @throws UnsupportedOperationException if the claim store, such as DynamoDB, cannot take part in the application's
     *     transactions; the exception's message names the alternatives
     */
    void fence();
}
