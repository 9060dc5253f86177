package io.exactlyonce;

import org.jspecify.annotations.Nullable;

/**
 * The superclass of the library's exceptions. Thrown if the library cannot do what was requested (for example because
 * the key is parked, or the claim store does not answer). A call with an invalid argument, or at a wrong time, throws
 * {@link IllegalArgumentException} or {@link IllegalStateException} instead.
 */
public abstract class ExactlyOnceException extends RuntimeException {

    private final @Nullable String scope;
    private final @Nullable String keyHash;

    /**
     * @param scope the key's scope; {@code null} if the failure does not concern a single key
     * @param keyHash the key's hash, since keys may be personal data; {@code null} if the failure does not concern
     *     a single, usable key
     * @param message what has happened, and the remedy; never the key or a payload
     * @param cause the cause; {@code null} if there is none
     */
    protected ExactlyOnceException(
            @Nullable String scope, @Nullable String keyHash, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.scope = scope;
        this.keyHash = keyHash;
    }

    /** Returns the key's scope; {@code null} if the failure does not concern a single key. */
    public @Nullable String scope() {
        return scope;
    }

    /** Returns the key's hash; {@code null} if the failure does not concern a single, usable key. */
    public @Nullable String keyHash() {
        return keyHash;
    }
}
