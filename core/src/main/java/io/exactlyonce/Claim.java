package io.exactlyonce;

/**
 * A handler's claim on its idempotency key. Declare it as a parameter of an {@link ExactlyOnceListener} method to get
 * it. Thread-safe; usable while the handler runs.
 *
 * <p>With {@link ClaimMode#OBSERVE} a listener has no claim, and its handler gets a substitute: {@link #attempt()} is
 * the message's receive count, {@link #isInDoubt()} is false, {@link #ensureHeld()} and {@link #followUp} pass, and
 * {@link #fence()} and {@link #fencingToken()} throw {@link IllegalStateException}. If the message has no usable key,
 * {@link #scope()}, {@link #key()}, {@link #keyHash()} and {@link #downstreamKey()} throw {@link UnusableKeyException}.
 *
 * <p>The handler of a message without a key gets such a substitute too, if {@link MissingKeyPolicy#RUN_UNPROTECTED} has
 * it called.
 */
public interface Claim {

    /**
     * Returns the key's namespace: the scope of the listener or of the call.
     *
     * @throws UnusableKeyException if nothing is claimed, and the message has no usable key
     */
    String scope();

    /**
     * Returns the stored idempotency key: the SHA-256 of keys longer than 512 characters.
     *
     * @throws UnusableKeyException if nothing is claimed, and the message has no usable key
     */
    String key();

    /**
     * Returns the first 16 digits of {@link #downstreamKey()}, by which log lines, events, exceptions and the endpoint
     * name the key. A key may be personal data.
     *
     * @throws UnusableKeyException if nothing is claimed, and the message has no usable key
     */
    String keyHash();

    /**
     * Returns the number of this attempt at the key, from 1. With {@link Effects#DATABASE}, attempts that were rolled
     * back are not counted.
     */
    int attempt();

    /**
     * Returns whether an earlier attempt at this key may have had effects that were never recorded, because its process
     * died or lost its claim. An attempt that failed with its own exception does not count. With {@link
     * Effects#DATABASE}, effects of a dead process are rolled back, so this is true only after an attempt with {@link
     * Effects#EXTERNAL}.
     */
    boolean isInDoubt();

    /**
     * Returns a number that grows with each claim of this key, for systems that can reject stale writers.
     *
     * @throws IllegalStateException if nothing is claimed: the listener only observes, or the message has no key
     */
    long fencingToken();

    /**
     * Returns an idempotency key for the systems that the handler calls: the same for all attempts at this key,
     * different for every other key or scope. 64 hexadecimal digits.
     *
     * @throws UnusableKeyException if nothing is claimed, and the message has no usable key
     */
    String downstreamKey();

    /**
     * Returns an idempotency key for a call or a message of a handler that has several. The key is different for each
     * name, and the same for all attempts: the SHA-256 of scope, NUL, key, NUL and name, as 64 hexadecimal digits.
     *
     * @param call a name for the call or message, such as {@code "refund"}; 1 to 512 characters
     * @throws IllegalArgumentException if the name is blank, too long, or no text
     * @throws UnusableKeyException if nothing is claimed, and the message has no usable key
     */
    String downstreamKey(String call);

    /**
     * Returns the identity of a message that the handler sends. An {@link ExactlyOnceListener} that receives the
     * message, and has no {@code key} of its own, handles it once, however often this handler, an outbox or SQS repeats
     * it.
     *
     * <p>Call it while the handler runs, also if an outbox sends the message later: store the identity with the event.
     *
     * @param name a name for the message, such as {@code "shipped"}; 1 to 512 characters, and another one for each
     *     message of the handler
     * @throws IllegalArgumentException if the name is blank, too long, or no text
     * @throws ClaimLostException if another worker may own the key, or the handler has ended
     */
    default FollowUp followUp(String name) {
        FollowUp followUp = new FollowUp(downstreamKey(name));
        ensureHeld();
        return followUp;
    }

    /**
     * Throws unless this claim is still held. Call it right before each effect.
     *
     * <p>The check is local: it compares the lease with this JVM's monotonic clock and does no I/O. It cannot detect a
     * pause between the check and the effect. With {@link Effects#DATABASE} there is no lease; the check passes until
     * the handler ends or the listener stops.
     *
     * @throws ClaimLostException if another worker may own the key
     */
    void ensureHeld();

    /**
     * Binds the current transaction to this claim. The call verifies in the database that the claim is held, and blocks
     * takeovers until the transaction ends. A worker that has lost its claim therefore cannot commit.
     *
     * <p>Call it inside a Spring transaction on the database that stores the claims, before or after your writes. It
     * costs one statement. Renewal and completion of the claim continue meanwhile.
     *
     * <p>It does not cover a crash after the commit and before the completion: the next attempt sees {@link
     * #isInDoubt()}. Use {@link Effects#DATABASE} to close that gap.
     *
     * @throws ClaimLostException if the claim no longer holds its key; the transaction must be rolled back, as
     *     Spring does for this exception
     * @throws IllegalStateException if there is no such transaction, or if nothing is claimed: the listener only
     *     observes, or the message has no key
     * @throws ClaimStoreException if the database does not answer; the transaction must be rolled back
     * @throws UnsupportedOperationException if the claim store shares no transactions with applications, such as
     *     DynamoDB; the message names the alternatives
     */
    void fence();
}
