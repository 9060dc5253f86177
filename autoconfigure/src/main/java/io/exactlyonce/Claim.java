package io.exactlyonce;

/**
 * A handler's claim on its idempotency key. Declare it as a parameter of an {@link ExactlyOnceListener} method to get
 * it. Usable from any thread, while the handler runs.
 */
public interface Claim {

    /** Returns the idempotency key as it is stored: longer ones than 512 characters by their SHA-256. */
    String key();

    /** Returns which attempt at this key this is, counted from 1. */
    int attempt();

    /**
     * Tells whether an earlier attempt at this key may have had effects that nobody recorded: its worker died, or lost
     * its claim, before it reported an outcome. A handler that merely failed with an exception does not count.
     */
    boolean isAmbiguous();

    /** Returns a number that grows with each claim of this key, for systems that can refuse a stale writer's. */
    long fencingToken();

    /**
     * Returns an idempotency key for the systems that the handler calls: the same for all attempts at this key,
     * different for every other key or scope. 64 hexadecimal digits.
     */
    String downstreamKey();

    /**
     * Checks, without any input or output, that this claim is held: call it right before an effect. It says yes only
     * while the lease that the database last granted has not run out by this JVM's monotonic clock; it cannot see a
     * pause between its answer and the effect.
     *
     * @throws ClaimLostException if another worker may hold the key by now
     */
    void ensureHeld();
}
