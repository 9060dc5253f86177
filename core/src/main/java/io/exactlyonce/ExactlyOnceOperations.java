package io.exactlyonce;

import org.jspecify.annotations.NonNull;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.lang.CheckReturnValue;

/**
 * Exactly-once effects for code outside a listener, such as an HTTP request with an {@code Idempotency-Key}.
 * Thread-safe.
 *
 * <p>Keys follow the rules of listeners: blank keys and keys with a NUL are rejected, and keys longer than 512
 * characters are replaced by their SHA-256. Keys of a scope are shared with listeners of the same scope.
 */
public interface ExactlyOnceOperations {

    /**
     * Names the key of a call. The call does nothing until {@link OnceCall#call} or {@link OnceCall#run} ends it:
     *
     * <pre>{@code
     * Receipt receipt = operations.once("payments", paymentId)
     *         .comparing(requestBody)
     *         .parkInDoubt()
     *         .call(Receipt.class, claim -> provider.charge(paymentId, claim.downstreamKey()));
     * operations.once("mails", orderId).run(claim -> mailer.send(orderId));
     * }</pre>
     *
     * @param scope the key's namespace, 1 to 512 characters
     * @param key the key of the action
     * @throws IllegalArgumentException if the scope is not usable
     * @throws UnusableKeyException if the key is not usable; a {@link MissingKeyException} if it is blank
     */
    @CheckReturnValue
    OnceCall<RuntimeException> once(String scope, String key);

    /**
     * A call that runs its action once per key. Immutable: each method returns another call.
     *
     * @param <X> type of its action's checked exceptions; {@link RuntimeException} if there are none
     */
    interface OnceCall<X extends Throwable> {

        /**
         * Refuses the key if it is completed for other content.
         *
         * @param body content to compare, such as a request's body, of JSON without its layout; only its SHA-256 is
         *     stored
         */
        @CheckReturnValue
        OnceCall<X> comparing(String body);

        /**
         * Parks the key if it is in doubt: the call throws {@link ParkedException} until an operator decides through
         * {@link ParkedKeys}. Without it, the action runs again, and can check {@link Claim#isInDoubt()}.
         *
         * <p>Calls and listeners of a scope should have the same policy, because the first that claims a key in doubt
         * applies its own.
         */
        @CheckReturnValue
        OnceCall<X> parkInDoubt();

        /**
         * Lets the action throw checked exceptions, which its caller gets unchanged. Kotlin does not need it.
         *
         * @param type the exception, or a superclass of several
         */
        @CheckReturnValue
        <Y extends Throwable> OnceCall<Y> throwing(Class<Y> type);

        /**
         * Runs the action once per key and returns its result. Later calls with the same key return the stored result,
         * deserialized from JSON, without running the action.
         *
         * <p>The lease, {@code exactly-once.claim.lease} or else 30 s, is renewed while the action runs. If it is lost,
         * the thread is interrupted and {@link ClaimLostException} is thrown. If the action throws, the key is released
         * and the next call runs it again. If the process dies, the key is in doubt: see {@link #parkInDoubt()}.
         *
         * <p>If the store is unavailable when the action ends, completion is retried until the lease expires. The
         * message of the {@link ClaimStoreException} says whether the action was called. If it was, its effect has
         * happened, and the next call finds the key completed or in doubt.
         *
         * @param type of the result. Types with type parameters need a {@link ParameterizedTypeReference}; {@code
         *     Object} and {@code Number} do not say what their values are
         * @param action the work
         * @return the result as its JSON is read back, for the first caller and for later ones; {@code null} if the
         *     action returned {@code null}
         * @throws IllegalArgumentException if values of the type cannot be stored
         * @throws IllegalStateException within a transaction that may still be rolled back
         * @throws ClaimHeldException if another call or delivery owns the key
         * @throws ParkedException if the key waits for an operator's decision
         * @throws KeyReusedException if the key is completed for other content
         * @throws StoredResultException if the key is completed, but has no stored result of this type, also by
         *     this call
         * @throws ClaimLostException if the claim was lost; the result is discarded
         * @throws ClaimStoreException if the store does not answer
         * @throws ExactlyOnceSetupException if the store cannot keep claims yet, such as without its table
         * @throws X if the action throws it
         */
        <T extends @Nullable Object> T call(Class<@NonNull T> type, Action<? extends T, ? extends X> action) throws X;

        /**
         * Runs the action once per key and returns its result, whose type has type arguments.
         *
         * @param type of the result, such as {@code new ParameterizedTypeReference<List<Line>>() {}}
         * @throws ExactlyOnceException as {@link #call(Class, Action)} does
         * @throws IllegalArgumentException if values of the type cannot be stored
         * @throws IllegalStateException within a transaction that may still be rolled back
         * @throws X if the action throws it
         */
        <T extends @Nullable Object> T call(
                ParameterizedTypeReference<@NonNull T> type, Action<? extends T, ? extends X> action) throws X;

        /**
         * Runs the action once per key.
         *
         * @throws ExactlyOnceException as {@link #call(Class, Action)} does; not {@link StoredResultException}
         * @throws IllegalStateException within a transaction that may still be rolled back
         * @throws X if the action throws it
         */
        void run(VoidAction<? extends X> action) throws X;
    }

    /**
     * Work under a claim.
     *
     * @param <T> type of its result
     * @param <X> type of its exception
     */
    @FunctionalInterface
    interface Action<T extends @Nullable Object, X extends Throwable> {

        /** Does the work and returns its result. */
        T run(Claim claim) throws X;
    }

    /**
     * Work under a claim without a result.
     *
     * @param <X> type of its exception
     */
    @FunctionalInterface
    interface VoidAction<X extends Throwable> {

        /** Does the work. */
        void run(Claim claim) throws X;
    }
}
