package io.exactlyonce.actuate;

import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.KeyRules;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The key that a caller asks for. The caller gives the scope, and either the key or the key's hash from a log line.
 *
 * @param key {@code null} if the caller gave the hash
 * @param keyHash {@code null} if the caller gave the key
 */
record NamedKey(
        String scope, @Nullable ClaimKey key, @Nullable String keyHash) {

    private static final int LONGEST_NAME = 600;

    private static final Pattern HASH = Pattern.compile("[0-9a-f]{16}");

    /**
     * Reads the key from the parameters of a request.
     *
     * @throws IllegalArgumentException if the parameters are missing or not valid; the message explains the problem
     */
    static NamedKey of(@Nullable Object scope, @Nullable Object key, @Nullable Object keyHash) {
        String its = Parameters.text("scope", scope);
        if ((key == null) == (keyHash == null)) {
            throw new IllegalArgumentException(
                    "one of key and keyHash is needed beside scope; keyHash is the one that logs show");
        }
        if (key != null) {
            return new NamedKey(its, key(its, Parameters.text("key", key)), null);
        }
        String digits = Parameters.text("keyHash", keyHash);
        if (!HASH.matcher(digits).matches()) {
            throw new IllegalArgumentException(
                    "keyHash must be the 16 hexadecimal digits that logs show after the scope");
        }
        return new NamedKey(its, null, digits);
    }

    private static ClaimKey key(String scope, String key) {
        try {
            return KeyRules.key(scope, key);
        } catch (UnusableKeyException unusable) {
            throw new IllegalArgumentException(unusable.getMessage(), unusable);
        }
    }

    /** Returns the hash of the key. */
    String hash() {
        return key == null ? String.valueOf(keyHash) : key.keyHash();
    }

    /**
     * Returns the scope and the key's hash, for the log. The key itself is left out, because it may be personal data.
     * The scope comes from the caller, so line breaks in it are replaced.
     */
    @Override
    public String toString() {
        return OneLine.of(key == null ? scope + "/" + keyHash : key.toString(), LONGEST_NAME);
    }
}
