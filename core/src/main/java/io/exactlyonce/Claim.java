package io.exactlyonce;

/**
 * A handler's claim on its idempotency key. Declare it as a parameter of an {@link ExactlyOnceListener} method to get
 * it. Usable from any thread, while the handler runs.
 *
 * <p>A listener with {@link Mode#OBSERVE} holds no claim. Its handler gets one that says what is known of the message alone: {@link
 * #attempt()} is the message's receive count, {@link #isInDoubt()} is false, {@link #ensureHeld()} passes, and {@link #fence()} and
 * {@link #fencingToken()} throw {@link IllegalStateException}. Of a message without a usable key, {@link #key()} and {@link
 * #downstreamKey()} throw {@link InvalidKeyException}.
 */
public interface Claim {

    /** Returns the idempotency key as it is stored: longer ones than 512 characters by their SHA-256. */
    String key();

    /**
     * Returns which attempt at this key this is, counted from 1. With {@link Effects#DATABASE}, attempts that were
     * rolled back leave no trace, so that they are not counted.
     */
    int attempt();

    /**
     * Returns whether an earlier attempt at this key may have had effects that are not recorded: its worker died, or
     * lost its claim, before it reported an outcome. A handler that merely failed with an exception does not count.
     * With {@link Effects#DATABASE} a dead worker's effects are rolled back, so it is true only after an attempt that
     * was made with {@link Effects#EXTERNAL}.
     */
    boolean isInDoubt();

    /** Returns a number that grows with each claim of this key, for systems that can refuse a stale writer. */
    long fencingToken();

    /**
     * Returns an idempotency key for the systems that the handler calls: the same for all attempts at this key,
     * different for every other key or scope. 64 hexadecimal digits.
     */
    String downstreamKey();

    /**
     * Checks, without any input or output, that this claim is held: call it right before an effect. It passes only
     * while the lease that the database last granted has not run out by this JVM's monotonic clock; it cannot see a
     * pause between its answer and the effect. With {@link Effects#DATABASE} there is no lease, since the transaction
     * protects the effects: it passes until the handler ends or its listener stops.
     *
     * @throws ClaimLostException if another worker may hold the key by now
     */
    void ensureHeld();

    /**
     * Ties the caller's own transaction to this claim: checks in the database that the claim holds its key, and keeps
     * every other worker from taking the key over until that transaction ends. So a worker that lost its claim, however
     * long it was paused, cannot commit what it writes in a transaction that called this. Call it in the transaction
     * that writes, before or after the writes. Costs one statement.
     *
     * <p>The transaction must be Spring's, on a DataSource that leads to the database which keeps the claims. Renewal
     * and completion of this claim go on meanwhile. Not covered: a worker that dies after its commit and before its
     * completion is recorded; the next attempt sees {@link #isInDoubt()}. Only {@link Effects#DATABASE} closes that
     * gap.
     *
     * @throws ClaimLostException if the claim does not hold its key any more; the transaction must be rolled back, as
     *     Spring does for this exception
     * @throws IllegalStateException if there is no such transaction
     */
    void fence();
}
