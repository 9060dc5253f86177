package io.exactlyonce;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.lang.CheckReturnValue;

/**
 * The parked keys of listeners and of {@link ExactlyOnceOperations}, and an operator's decisions on these keys. The
 * application context has this bean if the claim store can list parked claims. Thread-safe.
 *
 * <p>An operator first lists or looks up a parked claim, and then decides on it. The decision changes nothing if the
 * key has another state by now. If a decision throws, it may or may not be stored. Look up the key, or repeat the
 * decision: a repetition is safe, because only the first decision on a claim counts.
 *
 * <p>Operators must not delay claims, so only one lookup and one decision run at a time. A call throws {@link
 * ClaimStoreException} if its turn does not come in time, or if the store does not answer. A call throws {@link
 * ExactlyOnceSetupException} if the store cannot keep claims yet, for example because its table is missing.
 */
public interface ParkedKeys {

    /** Largest number of claims in one call. */
    int MOST = 1_000;

    /**
     * Lists parked claims, the oldest first.
     *
     * @param limit maximum number of claims, from 1 to {@value #MOST}
     * @throws IllegalArgumentException if the limit is outside its bounds
     */
    List<ParkedClaim> list(int limit);

    /**
     * Lists further parked claims.
     *
     * @param last the last claim of the previous list; it need not be parked any more
     * @param limit maximum number of claims, from 1 to {@value #MOST}
     * @throws IllegalArgumentException if the limit is outside its bounds
     */
    List<ParkedClaim> listAfter(ParkedClaim last, int limit);

    /**
     * Returns the claim of a parked key; empty if the key is not parked.
     *
     * @throws IllegalArgumentException if the scope is not usable
     * @throws UnusableKeyException if the key is not usable; a {@link MissingKeyException} if the key is blank
     */
    Optional<ParkedClaim> find(String scope, String key);

    /**
     * Releases a parked key. The next delivery or call acquires the key, even if its policy is
     * {@link InDoubtPolicy#PARK} and the key is in doubt. The key keeps its number of attempts, and stays in doubt if
     * it was.
     *
     * @param seen the claim as the operator saw it
     * @return {@code true} if this call released the key; {@code false} if the key has another state by now. With
     *     DynamoDB, {@code false} is possible although this call released the key. This happens if the response is
     *     lost, and the key is claimed again before the SDK repeats the request
     */
    @CheckReturnValue
    boolean release(ParkedClaim seen);

    /**
     * Completes a parked key without a result. Later deliveries of the key are acknowledged without calling the
     * handler.
     *
     * @param seen the claim as the operator saw it
     * @return {@code true} if this call completed the key; {@code false} if the key has another state by now
     */
    @CheckReturnValue
    default boolean complete(ParkedClaim seen) {
        return complete(seen, null);
    }

    /**
     * Completes a parked key. Later deliveries of the key are acknowledged without calling the handler, and later calls
     * with the key get the result.
     *
     * @param seen the claim as the operator saw it
     * @param result the result of the handler or action, or {@code null} if there is nothing to replay
     * @return {@code true} if this call completed the key; {@code false} if the key has another state by now
     * @throws IllegalArgumentException if the result cannot be stored
     */
    @CheckReturnValue
    boolean complete(ParkedClaim seen, @Nullable Object result);

    /**
     * Releases many parked keys in few requests: one statement in PostgreSQL, one request for 25 keys in DynamoDB.
     *
     * @param seen the claims as the operator saw them, at most {@value #MOST}, such as a list of {@link #list}
     * @return the claims that this call did not release, because their keys have another state by now. With DynamoDB,
     *     the list may contain a claim that this call released. This happens if the response is lost, and the key is
     *     claimed again before the SDK repeats the request
     * @throws IllegalArgumentException if there are more than {@value #MOST} claims
     */
    @CheckReturnValue
    List<ParkedClaim> releaseAll(Collection<? extends ParkedClaim> seen);

    /**
     * Completes many parked keys without results in few requests: one statement in PostgreSQL, one request for 25 keys
     * in DynamoDB.
     *
     * @param seen the claims as the operator saw them, at most {@value #MOST}, such as a list of {@link #list}
     * @return the claims that this call did not complete, because their keys have another state by now
     * @throws IllegalArgumentException if there are more than {@value #MOST} claims
     */
    @CheckReturnValue
    List<ParkedClaim> completeAll(Collection<? extends ParkedClaim> seen);
}
