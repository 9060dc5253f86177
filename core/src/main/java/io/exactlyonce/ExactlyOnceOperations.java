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
 * characters are replaced by their SHA-256. A call and a listener with the same scope share their keys.
 */
public interface ExactlyOnceOperations {

    /**
     * Prepares a call for a key. The action runs only when {@link OnceCall#call} or {@link OnceCall#run} is called:
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
     * @throws UnusableKeyException if the key is not usable; a {@link MissingKeyException} if the key is blank
     */
    @CheckReturnValue
    OnceCall<RuntimeException> once(String scope, String key);

    /**
     * A call that runs its action once per key. Immutable: {@link #comparing}, {@link #parkInDoubt} and {@link
     * #throwing} return another call.
     *
     * @param <X> type of the action's checked exceptions; {@link RuntimeException} if there are none
     */
    interface OnceCall<X extends Throwable> {

        /**
         * Returns a call that throws {@link KeyReusedException} if the key is completed for other content. Without this
         * method, contents are not compared.
         *
         * @param body the content to compare, such as a request's body. Two JSON bodies are equal if they differ only
         *     in white space, escapes or the order of fields. Only the content's SHA-256 is stored
         */
        @CheckReturnValue
        OnceCall<X> comparing(String body);

        /**
         * Returns a call that parks its key if the key is in doubt, and throws {@link ParkedException} until an
         * operator decides through {@link ParkedKeys}. Without this method, the action runs again, and can check {@link
         * Claim#isInDoubt()}.
         *
         * <p>Use the same policy for all calls and listeners of a scope. If their policies differ, the first call or
         * listener to claim a key in doubt decides.
         */
        @CheckReturnValue
        OnceCall<X> parkInDoubt();

        /**
         * Returns a call whose action may throw checked exceptions of a type. The caller of {@link #call} or {@link
         * #run} gets these exceptions unchanged. Kotlin code does not need this method.
         *
         * @param type the type of the exceptions, or a superclass of several types
         */
        @CheckReturnValue
        <Y extends Throwable> OnceCall<Y> throwing(Class<Y> type);

        /**
         * Runs the action once per key and returns its result. Later calls with the same key do not run the action, but
         * return the stored result, deserialized from JSON.
         *
         * <p>The lease is {@code exactly-once.claim.lease}, or else 30 s, and is renewed while the action runs. If the
         * lease is lost, the thread is interrupted and {@link ClaimLostException} is thrown. If the action throws, the
         * key is released, and the next call runs the action again. If the process dies, the key is in doubt: see
         * {@link #parkInDoubt()}.
         *
         * <p>If the store is unavailable when the action ends, completion is retried until the lease expires. {@link
         * ClaimStoreException} reports that the store did not answer, and its message says whether the action was
         * called. If the action was called, its effect has happened, and the next call finds the key completed or in
         * doubt.
         *
         * @param type the type of the result. A type with type parameters needs a {@link ParameterizedTypeReference}.
         *     {@code Object} and {@code Number} are rejected, because JSON does not say of which class such a result
         *     was
         * @param action the work
         * @return the result as it is read back from its JSON, also for the first caller; {@code null} if the action
         *     returned {@code null}
         * @throws IllegalArgumentException if values of the type cannot be stored
         * @throws IllegalStateException if the call is made within a transaction that may still be rolled back
         * @throws ClaimHeldException if another call or delivery owns the key
         * @throws ParkedException if the key waits for an operator's decision
         * @throws KeyReusedException if the key is completed for other content
         * @throws StoredResultException if this call or an earlier one has completed the key, but no result of this
         *     type is stored
         * @throws ClaimLostException if the claim was lost; the result is discarded
         * @throws ClaimStoreException if the store does not answer
         * @throws ExactlyOnceSetupException if the store cannot keep claims yet, for example because its table is
         *     missing
         * @throws X if the action throws it
         */
        <T extends @Nullable Object> T call(Class<@NonNull T> type, Action<? extends T, ? extends X> action) throws X;

        /**
         * Runs the action once per key and returns its result, whose type has type arguments.
         *
         * @param type the type of the result, such as {@code new ParameterizedTypeReference<List<Line>>() {}}
         * @throws ExactlyOnceException as {@link #call(Class, Action)} does
         * @throws IllegalArgumentException if values of the type cannot be stored
         * @throws IllegalStateException if the call is made within a transaction that may still be rolled back
         * @throws X if the action throws it
         */
        <T extends @Nullable Object> T call(
                ParameterizedTypeReference<@NonNull T> type, Action<? extends T, ? extends X> action) throws X;

        /**
         * Runs the action once per key.
         *
         * @throws ExactlyOnceException as {@link #call(Class, Action)} does, except {@link StoredResultException}
         * @throws IllegalStateException if the call is made within a transaction that may still be rolled back
         * @throws X if the action throws it
         */
        void run(VoidAction<? extends X> action) throws X;
    }

    /**
     * Code that a call runs once per key, and that returns a result.
     *
     * @param <T> type of the result
     * @param <X> type of the exceptions that the code throws
     */
    @FunctionalInterface
    interface Action<T extends @Nullable Object, X extends Throwable> {

        /** Does the work and returns its result. */
        T run(Claim claim) throws X;
    }

    /**
     * Code that a call runs once per key, and that returns nothing.
     *
     * @param <X> type of the exceptions that the code throws
     */
    @FunctionalInterface
    interface VoidAction<X extends Throwable> {

        /** Does the work. */
        void run(Claim claim) throws X;
    }
}
