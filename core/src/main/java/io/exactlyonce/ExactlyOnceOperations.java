package io.exactlyonce;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Exactly-once effects for code that is no listener, such as an HTTP request with an {@code Idempotency-Key}; and the
 * decisions that parked keys wait for. Safe for use by many threads.
 *
 * <p>Keys follow the rules of listeners: blank ones and ones with a NUL are refused, longer ones than 512 characters
 * are kept by their SHA-256. Keys of a scope are shared with listeners of the same scope.
 */
public interface ExactlyOnceOperations {

    /**
     * Work under a claim.
     *
     * @param <T> what it returns
     * @param <X> what it may throw
     */
    @FunctionalInterface
    interface Action<T, X extends Throwable> {

        /** Does the work; returns its result. */
        @Nullable T run(Claim claim) throws X;
    }

    /**
     * Runs an action once for its key, whatever payload it is asked for with.
     *
     * @see #execute(String, String, String, Class, Action)
     */
    <T, X extends Throwable> @Nullable T execute(String scope, String key, Class<T> type, Action<T, X> action) throws X;

    /**
     * Runs an action once for its key, and replays its result later. The claim's lease is renewed while the action
     * runs; if it is lost, the thread is interrupted. Its length is {@code exactly-once.claim.lease}, else 30 s.
     *
     * <p>The first call returns what the action returned; later ones what was stored of it as JSON, read as the type.
     * An action that throws gives the key up, so that the next call runs it again. A call that dies, or loses its
     * claim, leaves a doubt, which the next one sees by {@link Claim#isInDoubt()}:
     * {@link #whenInDoubt(InDoubtPolicy)} parks the key instead.
     *
     * <p>If the database is away when the action has ended, its completion is repeated for as long as the lease lasts;
     * what the database threw then means that the effect has happened and is not on record.
     *
     * @param scope the key's namespace, 1 to 512 characters
     * @param key names what is to happen once
     * @param payload what is asked for, such as a request's body; only its SHA-256 is kept. {@code null} compares
     *     nothing
     * @param type of the result; {@link Void} if there is none
     * @param action the work
     * @return the action's result, or the stored one
     * @throws InvalidKeyException if the key cannot be one
     * @throws ClaimHeldException if another call holds the key
     * @throws ParkedException if the key waits for a person's decision
     * @throws KeyReusedException if the key is completed for another payload
     * @throws StoredResultException if the key is completed, but has no result of this type to replay
     * @throws ClaimLostException if the claim was lost; the result is discarded
     * @throws X what the action threw
     */
    <T, X extends Throwable> @Nullable T execute(
            String scope, String key, @Nullable String payload, Class<T> type, Action<T, X> action) throws X;

    /**
     * Returns these operations with another policy for keys whose earlier attempt was abandoned, by a call or by a
     * listener of the same scope: {@link InDoubtPolicy#RERUN} without one. A scope's calls and listeners should
     * agree, since whichever comes first to a key in doubt decides by its own policy.
     *
     * @param policy {@link InDoubtPolicy#PARK} parks the key: {@code execute} throws {@link ParkedException}, and so
     *     does each later one until a person has decided
     * @throws IllegalArgumentException for {@link InDoubtPolicy#RECONCILE}: an action can look for itself what was
     *     done, where {@link Claim#isInDoubt()}
     */
    ExactlyOnceOperations whenInDoubt(InDoubtPolicy policy);

    /**
     * Lists parked claims, those first that have waited longest.
     *
     * @param limit at most so many, from 1 to 1000
     */
    List<ParkedClaim> parked(int limit);

    /**
     * Lists further parked claims.
     *
     * @param last where to go on: the last of the claims listed before, whether it is parked still or not
     * @param limit at most so many, from 1 to 1000
     */
    List<ParkedClaim> parkedAfter(ParkedClaim last, int limit);

    /** Looks a key up; empty if it is not parked. */
    Optional<ParkedClaim> findParked(String scope, String key);

    /**
     * Decides that a parked key may be run again: the next delivery or call acquires it, also under {@link
     * InDoubtPolicy#PARK}. It keeps its count of attempts and its doubt. A call that throws may have decided it, or not: look
     * the key up.
     *
     * @param claim the claim as it was seen
     * @return whether this decided it; {@code false} if another decision came first
     */
    boolean releaseParked(ParkedClaim claim);

    /**
     * Decides that a parked key's effect has happened: its further deliveries are acknowledged, its further calls get
     * the result. A call that throws may have decided it, or not: look the key up.
     *
     * @param claim the claim as it was seen
     * @param result what the handler or action would have returned, or {@code null} if there is nothing to replay
     * @return whether this decided it; {@code false} if another decision came first
     * @throws IllegalArgumentException if the result cannot be kept
     */
    boolean completeParked(ParkedClaim claim, @Nullable Object result);
}
