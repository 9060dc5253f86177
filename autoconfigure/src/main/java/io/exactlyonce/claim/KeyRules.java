package io.exactlyonce.claim;

import io.exactlyonce.InvalidKeyException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a value must be to serve as an idempotency key. The rules fail a delivery rather than let two messages share a
 * key by accident, or one message have two.
 */
public final class KeyRules {

    private KeyRules() {}

    /**
     * Returns the value as a key.
     *
     * @param source where the value comes from, for the message
     * @throws InvalidKeyException if the value cannot be a key
     */
    public static String toKey(String source, @Nullable Object value) {
        if (value == null) {
            throw new InvalidKeyException("%s is null; every message needs a key of its own".formatted(source));
        }
        String key = text(source, value);
        if (key.isBlank()) {
            throw new InvalidKeyException("%s is blank; every message needs a key of its own".formatted(source));
        }
        if (key.indexOf('\0') >= 0) {
            throw new InvalidKeyException(
                    "%s contains a NUL character, which PostgreSQL cannot store; send a key without it"
                            .formatted(source));
        }
        if (!isText(key)) {
            throw new InvalidKeyException(
                    "%s contains half of a surrogate pair, which is no text; send a key without it".formatted(source));
        }
        return key.length() > ClaimKey.MAX_LENGTH ? ClaimKey.sha256(key) : key;
    }

    /** Only a key with surrogates needs an encoder's judgement. */
    private static boolean isText(String key) {
        for (int i = 0; i < key.length(); i++) {
            if (Character.isSurrogate(key.charAt(i))) {
                return StandardCharsets.UTF_8.newEncoder().canEncode(key);
            }
        }
        return true;
    }

    /** Types whose text is meant to be read: that of an arbitrary object may name its address, another in each JVM. */
    private static String text(String source, Object value) {
        if (value instanceof CharSequence || value instanceof Number || value instanceof UUID) {
            return value.toString();
        }
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        throw new InvalidKeyException("%s is a %s; it must be text, a number, a UUID or an enum constant"
                .formatted(source, value.getClass().getName()));
    }
}
