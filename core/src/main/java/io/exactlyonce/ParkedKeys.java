package io.exactlyonce;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.lang.CheckReturnValue;

/**
 * The parked keys of listeners and of {@link ExactlyOnceOperations}, and an operator's decisions on them. A bean if the
 * claim store can park. Thread-safe.
 *
 * <p>A decision names the claim as it was seen, and changes nothing if the key has another state by now. If a decision
 * throws, it may or may not be stored: look the keys up, or repeat it, because only the first decision on a claim
 * counts.
 *
 * <p>Calls of one kind take turns, so that operators delay no claims. Each call throws {@link ClaimStoreException} if
 * the store does not answer, and {@link ExactlyOnceSetupException} if the store cannot keep claims yet, such as without
 * its table.
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
     * @param last the last claim of the previous list, whether it is still parked or not
     * @param limit maximum number of claims, from 1 to {@value #MOST}
     * @throws IllegalArgumentException if the limit is outside its bounds
     */
    List<ParkedClaim> listAfter(ParkedClaim last, int limit);

    /**
     * Returns a parked key; empty if it is not parked.
     *
     * @throws IllegalArgumentException if the scope is not usable
     * @throws UnusableKeyException if the key is not usable; a {@link MissingKeyException} if it is blank
     */
    Optional<ParkedClaim> find(String scope, String key);

    /**
     * Releases a parked key: the next delivery or call acquires it, also under {@link InDoubtPolicy#PARK}. The key
     * keeps its number of attempts, and whether it is in doubt.
     *
     * @param seen the claim as it was seen
     * @return whether this call decided; {@code false} if the key has another state by now, and with DynamoDB also
     *     if the response was lost and the key was claimed again before the SDK repeated the request
     */
    @CheckReturnValue
    boolean release(ParkedClaim seen);

    /**
     * Completes a parked key without a result: its later deliveries are acknowledged.
     *
     * @param seen the claim as it was seen
     * @return whether this call decided; {@code false} if the key has another state by now
     */
    @CheckReturnValue
    default boolean complete(ParkedClaim seen) {
        return complete(seen, null);
    }

    /**
     * Completes a parked key: its later deliveries are acknowledged, and its later calls get the result.
     *
     * @param seen the claim as it was seen
     * @param result the result of the handler or action, or {@code null} if there is nothing to replay
     * @return whether this call decided; {@code false} if the key has another state by now
     * @throws IllegalArgumentException if the result cannot be stored
     */
    @CheckReturnValue
    boolean complete(ParkedClaim seen, @Nullable Object result);

    /**
     * Releases many parked keys in few requests: one statement in PostgreSQL, one request for 25 keys in DynamoDB.
     *
     * @param seen the claims as they were seen, at most {@value #MOST}, such as a list of {@link #list}
     * @return the claims that this call did not decide, because their keys have another state by now. With DynamoDB, a
     *     released claim can be among them: the response was lost, and the key was claimed again before the SDK
     *     repeated the request
     * @throws IllegalArgumentException if there are too many
     */
    @CheckReturnValue
    List<ParkedClaim> releaseAll(Collection<? extends ParkedClaim> seen);

    /**
     * Completes many parked keys without results in few requests: one statement in PostgreSQL, one request for 25 keys
     * in DynamoDB.
     *
     * @param seen the claims as they were seen, at most {@value #MOST}, such as a list of {@link #list}
     * @return the claims that this call did not decide, because their keys have another state by now
     * @throws IllegalArgumentException if there are too many
     */
    @CheckReturnValue
    List<ParkedClaim> completeAll(Collection<? extends ParkedClaim> seen);
}
