package io.exactlyonce.claim;

import io.exactlyonce.boundary.KeyHashes;
import java.util.Comparator;

/**
 * An idempotency key within its scope, for example {@code 4711} in the scope {@code orders}. Keys are sorted by scope,
 * and then by key. Stores lock rows in this order.
 *
 * @param scope the key's namespace, up to 512 characters
 * @param key the key, up to 512 characters
 */
public record ClaimKey(String scope, String key) implements Comparable<ClaimKey> {

    /** Maximum length of a scope, and of a key, in characters. Every store must accept this length. */
    public static final int MAX_LENGTH = 512;

    private static final Comparator<ClaimKey> ORDER =
            Comparator.comparing(ClaimKey::scope).thenComparing(ClaimKey::key);

    public ClaimKey {
        requireStorable("scope", scope);
        requireStorable("key", key);
    }

    /**
     * Returns an idempotency key for calls to other systems, which is the same in every attempt. It is the SHA-256 of
     * scope, NUL and key, as 64 hexadecimal digits.
     */
    public String downstreamKey() {
        return KeyHashes.downstreamKey(scope, key);
    }

    /**
     * Returns an idempotency key for one of several calls that a handler makes to other systems. It is the SHA-256 of
     * scope, NUL, key, NUL and the call's name, as 64 hexadecimal digits.
     *
     * @param call a name for the call, such as {@code refund}
     * @throws IllegalArgumentException if the name is blank, is longer than {@value #MAX_LENGTH} characters, or
     *     contains a NUL character or half of a surrogate pair
     */
    public String downstreamKey(String call) {
        if (call.isBlank()) {
            throw new IllegalArgumentException(
                    "name (%d characters) must not be blank; name the call or message, such as \"refund\""
                            .formatted(call.length()));
        }
        if (call.length() > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "name (%d characters) must have at most %d characters; name the call or message, and not its content"
                            .formatted(call.length(), MAX_LENGTH));
        }
        KeyRules.unstorable(call).ifPresent(what -> {
            throw new IllegalArgumentException("name contains %s; name the call or message without it".formatted(what));
        });
        return sha256(scope + '\0' + key + '\0' + call);
    }

    /**
     * Returns the first 16 digits of {@link #downstreamKey()}. Logs, events and exceptions show this hash instead of
     * the key.
     */
    public String keyHash() {
        return KeyHashes.keyHash(scope, key);
    }

    /** Returns the SHA-256 of a text in UTF-8, as 64 hexadecimal digits. */
    public static String sha256(String text) {
        return KeyHashes.sha256(text);
    }

    @Override
    public int compareTo(ClaimKey other) {
        return ORDER.compare(this, other);
    }

    /** Returns the scope and the key's hash, because the key itself may be personal data. */
    @Override
    public String toString() {
        return scope + "/" + keyHash();
    }

    private static void requireStorable(String what, String value) {
        if (value.isBlank()) {
            throw new IllegalArgumentException(
                    "%s (%d characters) must not be blank; name it".formatted(what, value.length()));
        }
        if (value.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("%s (%d characters) must have at most %d characters; shorten it"
                    .formatted(what, value.length(), MAX_LENGTH));
        }
    }
}
