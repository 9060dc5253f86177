package io.exactlyonce.claim;

import io.exactlyonce.boundary.KeyHashes;
import java.util.Comparator;

/**
 * An idempotency key within its scope. Keys are ordered by scope and then by key, which is the order in which stores
 * lock rows.
 *
 * @param scope the key's namespace, up to 512 characters
 * @param key the key, up to 512 characters
 */
public record ClaimKey(String scope, String key) implements Comparable<ClaimKey> {

    /** The largest length of a scope, and of a key, in characters. Every store must accept this length. */
    public static final int MAX_LENGTH = 512;

    private static final Comparator<ClaimKey> ORDER =
            Comparator.comparing(ClaimKey::scope).thenComparing(ClaimKey::key);

    public ClaimKey {
        requireStorable("scope", scope);
        requireStorable("key", key);
    }

    /**
     * Returns the SHA-256 of scope, NUL and key, as 64 hexadecimal digits. The digits are the same in all attempts at
     * the key.
     */
    public String downstreamKey() {
        return KeyHashes.downstreamKey(scope, key);
    }

    /**
     * Returns the SHA-256 of scope, NUL, key, NUL and the name of a call, as 64 hexadecimal digits.
     *
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
     * Returns the first 16 digits of {@link #downstreamKey()}. Logs, events and exceptions name a key by these digits.
     */
    public String keyHash() {
        return KeyHashes.keyHash(scope, key);
    }

    /**
     * Returns the SHA-256 of a text in UTF-8.
     *
     * @return 64 hexadecimal digits
     */
    public static String sha256(String text) {
        return KeyHashes.sha256(text);
    }

    @Override
    public int compareTo(ClaimKey other) {
        return ORDER.compare(this, other);
    }

    /** Returns the scope and the key's hash. The key is left out, because it may be personal data. */
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
